// A CRL that cannot be built in time: the reply says so, and nothing outdated is served after a restart.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callRow, newBearer, success } from '../helpers/contract-calls.ts';
import { publicContract } from '#server/contract.ts';
import { UPKEEP_TIMEOUT_MS } from '#server/jobs/schedule.ts';
import { untilFirstCrl } from '../helpers/crl.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';
import { type Issued, issue } from './issuing.ts';

let server: TestServer;
let dataDir: string;
let certificate: Issued['certificate'];

beforeAll(async () => {
  dataDir = await newDataDir();
  server = await startTestServer({ dataDir, upkeepTimeoutMs: UPKEEP_TIMEOUT_MS });
  ({ certificate } = await issue(server));
  await untilFirstCrl(server);
  await writeRows(
    dataDir,
    `CREATE TRIGGER no_list BEFORE INSERT ON revocation_lists BEGIN SELECT RAISE(ABORT, 'planted'); END`,
  );
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const listedSerials = async (): Promise<string[]> => {
  const { revoked } = await success(server, 'revocationList', {});
  return (revoked as { serial_number: string }[]).map(({ serial_number }) => serial_number);
};

it('reports a late CRL in the reply and on the overview', async () => {
  const revoke = { serial_number: certificate.serial_number };
  const reply = await callRow(server, publicContract.revokeCertificate, revoke, await newBearer(server));
  expect(reply).toMatchObject({ status: 200, body: { ok: true, listed: false } });
  expect(await selectRows(dataDir, 'SELECT first_listed_in FROM revocation_entries')).toEqual([
    { first_listed_in: null },
  ]);
  const { revocation_list } = await server.admin.overview({});
  expect(revocation_list).toMatchObject({ waiting: true });
});

it('lists it before it serves anything after a restart', async () => {
  await server.stop();
  await writeRows(dataDir, 'DROP TRIGGER no_list');
  server = await startTestServer({ dataDir });
  expect(await listedSerials()).toContain(certificate.serial_number);
  const { revocation_list } = await server.admin.overview({});
  expect(revocation_list).toMatchObject({ waiting: false });
});

it('reports when the CRL has the entry', async () => {
  const { certificate: other } = await issue(server);
  const reply = await success(server, 'revokeCertificate', { id: other.id }, await newBearer(server));
  expect(reply.listed).toBe(true);
});

it('shows when the list was made, not the earlier time in it', async () => {
  const list = await success(server, 'revocationList', {});
  const built = Date.parse(list.built_at as string);
  expect(built).toBeGreaterThan(Date.parse(list.this_update as string));
  const [newest] = (list.revoked as { revoked_at: string }[])
    .map(({ revoked_at }) => Date.parse(revoked_at))
    .toSorted((a, b) => b - a);
  expect(built).toBeGreaterThanOrEqual(newest as number);
});
