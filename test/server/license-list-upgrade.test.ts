// The database of a version that had no index of texts: after the start its licenses are found like any others.
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { createInitialSchema } from '#server/database/migrations/0001-initial.ts';
import { createCertificateTables } from '#server/database/migrations/0002-certificates.ts';
import { adminSuccess, newLicense } from '../helpers/contract-calls.ts';
import { fingerprintOf, newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';

const KEY = '01234-56789-ABCDE-FGHJK-MTS3K';

async function writeOldDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, 'license-desk.db');
  const sequelize = await connect({ url: null, file }, { create: true });
  await createInitialSchema(sequelize, 'sqlite');
  await createCertificateTables(sequelize, 'sqlite');
  for (const sql of [
    'CREATE TABLE migrations (name VARCHAR(255) NOT NULL PRIMARY KEY)',
    `INSERT INTO migrations (name) VALUES ('0001-initial'), ('0002-certificates')`,
    `INSERT INTO licenses (license_key, holder, email, search_text, product, plan_id, issued_at, expires_at)
     VALUES ('${KEY}', 'Nováček', 'lab@old.example', 'novacek' || char(10) || 'lab@old.example', 'my-product', 1, 0, 1)`,
    `INSERT INTO activations (license_id, machine_fingerprint, activated_at) VALUES (1, '${fingerprintOf(0xbeefcafe)}', 0)`,
  ])
    await sequelize.query(sql);
  await sequelize.close();
  await chmod(file, 0o600);
}

describe('an upgraded database', () => {
  let dataDir: string;
  let server: TestServer;
  beforeAll(async () => {
    dataDir = await newDataDir();
    await writeOldDatabase(dataDir);
    server = await startTestServer({ dataDir });
  });
  afterAll(async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it.each([KEY, '56789-ABC', 'nová', 'OLD.EX', 'va', 'k', 'le', 'beefcafe', fingerprintOf(0xbeefcafe)])(
    'is searched for "%s"',
    async (search) => {
      const { items } = await adminSuccess(server, 'listLicenses', { search });
      expect(items).toMatchObject([{ license_id: 1, license_key: KEY }]);
    },
  );

  it('finds what is new beside what is old', async () => {
    const { license_id } = await newLicense(server, { holder: 'Nováčková' });
    const { items } = await adminSuccess(server, 'listLicenses', { search: 'novac', sort: 'holder' });
    expect(items.map((item: { license_id: number }) => item.license_id)).toEqual([1, license_id]);
  });
});
