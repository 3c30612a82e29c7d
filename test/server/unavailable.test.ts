import { join } from 'node:path';
import { Transaction } from 'sequelize';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from '../../server/database/connect.ts';
import { newBearer, newFingerprint, newLicense } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const SECOND_MS = 1000;

describe('while somebody else holds the database', () => {
  let server: TestServer;
  let release: () => Promise<void>;

  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  async function holdDatabase(): Promise<void> {
    const other = await connect({ url: null, file: join(server.dataDir, 'license-desk.db') });
    const transaction = await other.transaction({ type: Transaction.TYPES.IMMEDIATE });
    release = async () => {
      await transaction.rollback();
      await other.close();
    };
  }

  it('reads go on, writes are unavailable after a few seconds, and all is well again after that', async () => {
    const warn = vi.spyOn(console, 'warn');
    const { license_key } = await newLicense(server);
    const { token } = await server.admin.issueToken({ license: license_key });
    const bearer = await newBearer(server);
    const activation = { license_key, machine_fingerprint: newFingerprint() };
    await holdDatabase();
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / SECOND_MS;
    const write = server.post('/activate/', activation);

    const reads = await Promise.all([
      server.get('/health/'),
      server.get('/public-key/'),
      server.post('/authorize/', { license_key }),
      server.post('/authorize/token/', { token }),
      server.get('/plans/', bearer),
      server.get('/stats/', bearer),
    ]);
    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(seconds()).toBeLessThan(3);

    const refused = await write;
    expectFailure(refused, 'unavailable');
    expect(seconds()).toBeLessThan(10);
    await release();
    expect((await server.post('/activate/', activation)).status).toBe(200);
    // Sequelize's own word on it would stand among the log's JSON lines.
    expect(warn).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  }, 120_000);
});

describe('GET /health/', () => {
  it('says what fails while a job fails, and that it is over when it is', async () => {
    const server = await startTestServer({ flags: { 'scan-seconds': '0.2' } });
    const health = () => server.get('/health/');
    expect((await health()).body).toMatchObject({ status: 'ok', checks: { database: 'ok', jobs: 'ok' } });
    await writeRows(server.dataDir, 'ALTER TABLE licenses RENAME TO hidden');
    const patience = { timeout: 20_000, interval: 20 };
    const failing = await vi.waitFor(async () => {
      const reply = await health();
      expect(reply.status).toBe(503);
      return reply;
    }, patience);
    expectFailure(failing, 'unavailable');
    expect(failing.body.details).toEqual([{ path: 'checks.jobs', message: 'failing' }]);
    // A load balancer must not take a server away because a job is stuck.
    expect((await server.get('/health/ready/')).body).toMatchObject({ ok: true, status: 'ready' });
    await writeRows(server.dataDir, 'ALTER TABLE hidden RENAME TO licenses');
    await vi.waitFor(async () => expect((await health()).status).toBe(200), patience);
    await server.stop();
  }, 60_000);

  it('tells how long it has been up, and the time', async () => {
    const server = await startTestServer();
    const [first, second] = [await server.get('/health/'), await server.get('/health/')];
    expect(first.body.uptime_seconds).toBeGreaterThan(0);
    expect(second.body.uptime_seconds).toBeGreaterThan(first.body.uptime_seconds);
    expect(Math.abs(Date.parse(first.body.time as string) - Date.now())).toBeLessThan(60_000);
    await server.stop();
  });
});
