// A full disk: no certificate is half issued or half revoked, no key is lost, the list is served on.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Issued, issue, REQUEST, serialsIn } from '../certificates/issuing.ts';
import { listAs } from '../helpers/crl.ts';
import { selectRows } from '../helpers/database.ts';
import { type ServerProcess, startServerProcess } from '../helpers/server-process.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';
import type { Reply } from '../helpers/test-server.ts';

const disk = mountSmallDisk(16);
const why = typeof disk === 'string' ? ` (skipped: ${disk})` : '';

describe.skipIf(why !== '')(`a full disk${why}`, () => {
  const { path, fill, free, unmount } = disk as SmallDisk;
  const dataDir = join(path ?? '', 'data');
  let server: ServerProcess;
  let headers: Record<string, string>;
  let licenseId: number;
  let waiting: Issued;
  let token: string;

  const generate = () =>
    server.post('/certs/generate/', { license_id: licenseId, common_name: 'X', csr: REQUEST.csr }, headers);
  const revoke = ({ certificate }: Issued) => server.post('/certs/revoke/', { id: certificate.id }, headers);
  const download = () => server.get(`/certs/download-key/?token=${token}`);

  async function counts(): Promise<object> {
    const count = (from: string, name: string) => `(SELECT count(*) FROM ${from}) AS ${name}`;
    const [row] = await selectRows(
      dataDir,
      `SELECT ${count('certificates', 'certificates')}, ${count('certificate_keys', 'keys')},
        ${count('certificates WHERE revoked_at IS NOT NULL', 'revoked')},
        ${count('revocation_entries', 'entries')}, ${count('events', 'events')}, ${count('audit_entries', 'audits')}`,
    );
    return row as object;
  }

  beforeAll(async () => {
    server = await startServerProcess({ dataDir });
    const { api_token } = await server.admin.createApiToken({ name: 'Full', role: 'admin' });
    headers = { authorization: `Bearer ${api_token}` };
    licenseId = (await server.admin.createLicense({ holder: 'Full' })).license.license_id;
    waiting = await issue(server, { license_id: licenseId });
    const order = { license_id: licenseId, common_name: 'With a key' };
    token = (await server.admin.generateCertificate(order)).download_token!;
    await listAs(server, 'der');
  });
  afterAll(() => unmount());

  it('refuses what it cannot write, and does none of it by half', async () => {
    fill();
    // The first may still find room in what the database has already taken.
    let reply: Reply = await generate();
    for (let tries = 0; reply.status === 200 && tries < 1000; tries += 1) reply = await generate();
    const before = await counts();
    for (const refused of [reply, await generate(), await revoke(waiting), await download()])
      expect([refused.status, refused.body.error_code]).toEqual([503, 'unavailable']);
    expect(await counts()).toEqual(before);
    expect(before).toMatchObject({ keys: 1, revoked: 0, entries: 0 });
    expect(serialsIn(await listAs(server, 'der'))).toEqual([]);
    const { body } = await server.post('/certs/validate/', { certificate: waiting.certificate.pem });
    expect(body).toMatchObject({ valid: true });
  });

  it('has lost nothing once there is space again', async () => {
    free();
    expect((await download()).body.private_key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/u);
    expect((await download()).status).toBe(404);
    expect((await revoke(waiting)).status).toBe(200);
    expect(serialsIn(await listAs(server, 'der'))).toEqual([waiting.certificate.serial_number]);
    expect((await generate()).status).toBe(200);
    expect((await server.kill()).code).toBe(0);
  });
});
