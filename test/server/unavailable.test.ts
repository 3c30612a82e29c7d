import { join } from 'node:path';
import { Transaction } from 'sequelize';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import { newBearer, newFingerprint, newLicense } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

/** Of the right form, but no license has it. */
const UNKNOWN_KEY = generateLicenseKey();

/** Takes the write lock, as another program would. */
async function holdDatabase(dataDir: string): Promise<{ release(): Promise<void> }> {
  const other = await connect({ url: null, file: join(dataDir, 'license-desk.db') });
  const transaction = await other.transaction({ type: Transaction.TYPES.IMMEDIATE });
  return {
    async release() {
      await transaction.rollback();
      await other.close();
    },
  };
}

describe('while another process has locked the database', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  it('reads go on, writes are unavailable after a few seconds, and all is well again after that', async () => {
    const warn = vi.spyOn(console, 'warn');
    const { license_key } = await newLicense(server);
    const { token } = await server.admin.issueToken({ license: license_key });
    const bearer = await newBearer(server);
    // Notes the token's use now, so that no other write is ahead of the activation.
    await server.get('/plans/', bearer);
    await server.admin.listApiTokens({});
    const activation = { license_key, machine_fingerprint: newFingerprint() };
    const { release } = await holdDatabase(server.dataDir);
    const write = server.post('/activate/', activation);

    const reads = await Promise.all([
      server.get('/health/'),
      server.get('/public-key/'),
      server.post('/authorize/', { license_key }),
      server.post('/authorize/token/', { token }),
      server.get('/plans/', bearer),
      server.get('/stats/', bearer),
    ]);
    // One that waited for the lock would be refused, too.
    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);

    const refused = await write;
    expectFailure(refused, 'unavailable');
    await release();
    expect((await server.post('/activate/', activation)).status).toBe(200);
    // Sequelize's own word on it would stand among the log's JSON lines.
    expect(warn).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });
});

describe('activations that change nothing', () => {
  it('are answered while another process has locked the database', async () => {
    const server = await startTestServer({ flags: { 'rate-limit-activations': '1' } });
    const make = (fields: object = {}) => newLicense(server, { plan: 'enterprise', ...fields });
    const [active, full, revoked, crowded] = [
      await make(),
      await make({ plan: 'standard' }),
      await make(),
      await make(),
    ];
    const expired = await make({ expires_at: new Date(Date.now() - 90 * 86_400_000).toISOString() });
    const device = newFingerprint();
    const activate = (fields: object) =>
      server.post('/activate/', { machine_fingerprint: newFingerprint(), ...fields });
    const first = await activate({ license_key: active.license_key, machine_fingerprint: device });
    for (const { license_key } of [full, crowded]) expect((await activate({ license_key })).status).toBe(200);
    await server.admin.revokeLicense({ ref: revoked.license_key });
    const { release } = await holdDatabase(server.dataDir);

    // One that waited for the lock would be refused with `unavailable`.
    const codeOf = async (fields: object) => (await activate(fields)).body.error_code as string;
    const again = await activate({ license_key: active.license_key, machine_fingerprint: device });
    expect(again.body).toMatchObject({ ok: true, activation: first.body.activation });
    expect(await codeOf({ license_key: 'not a key' })).toBe('invalid_request');
    expect(await codeOf({ license_key: UNKNOWN_KEY })).toBe('license_not_found');
    expect(await codeOf({ license_key: revoked.license_key })).toBe('license_revoked');
    expect(await codeOf({ license_key: expired.license_key })).toBe('license_expired');
    expect(await codeOf({ license_key: active.license_key, product_slug: 'other' })).toBe('product_mismatch');
    expect(await codeOf({ license_key: full.license_key })).toBe('activation_limit_reached');
    expect(await codeOf({ license_key: crowded.license_key })).toBe('rate_limited');
    await release();
    await server.stop();
  });
});

describe('GET /health/', () => {
  it('reports a failing job, and its recovery', async () => {
    const server = await startTestServer({ flags: { 'scan-seconds': '0.2' } });
    const health = () => server.get('/health/');
    expect((await health()).body).toMatchObject({ status: 'ok', checks: { database: 'ok', jobs: 'ok' } });
    await writeRows(server.dataDir, 'ALTER TABLE licenses RENAME TO hidden');
    const failing = await eventually(async () => {
      const reply = await health();
      expect(reply.status).toBe(503);
      return reply;
    });
    expectFailure(failing, 'unavailable');
    expect(failing.body.details).toEqual([{ path: 'checks.jobs', message: 'failing' }]);
    // A load balancer must not take a server away because a job is stuck.
    expect((await server.get('/health/ready/')).body).toMatchObject({ ok: true, status: 'ready' });
    await writeRows(server.dataDir, 'ALTER TABLE hidden RENAME TO licenses');
    await eventually(async () => expect((await health()).status).toBe(200));
    await server.stop();
  });

  it('reports its uptime and the time', async () => {
    const server = await startTestServer();
    const { body } = await server.get('/health/');
    expect(body.uptime_seconds).toBeGreaterThan(0);
    expect(Math.abs(Date.parse(body.time as string) - Date.now())).toBeLessThan(60_000);
    // Two calls can fall within one millisecond.
    await eventually(async () => {
      expect((await server.get('/health/')).body.uptime_seconds).toBeGreaterThan(body.uptime_seconds);
    });
    await server.stop();
  });
});
