// PostgreSQL goes away and comes back: callers hear that the service is unavailable, never that it has a bug, and it recovers.
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../helpers/postgres-cluster.ts';
import { fingerprintOf, startTestServer, type TestServer } from '../helpers/test-server.ts';
import { eventually } from '../helpers/eventually.ts';
import { lastingTransaction } from '../helpers/postgres-database.ts';
import { startTcpRelay } from '../helpers/tcp-relay.ts';

interface LogLine {
  request_id: string;
  fault?: string;
  err?: object;
}

function logLines(dataDir: string): LogLine[] {
  const files = globSync(join(dataDir, 'logs', 'license-desk*'));
  const texts = files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  return texts.filter(Boolean).map((line) => JSON.parse(line) as LogLine);
}

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
describe.skipIf(!hasPostgres)(`a lost PostgreSQL server${why}`, () => {
  let postgres: PostgresCluster;
  let url: string;
  let server: TestServer;
  let licenseKey: string;

  const activate = (number: number) =>
    server.post('/activate/', { license_key: licenseKey, machine_fingerprint: fingerprintOf(number) });

  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.newDatabase();
    server = await startTestServer({ flags: { 'database-url': url } });
    const { license } = await server.admin.createLicense({ holder: 'Postgres', plan: 'enterprise' });
    licenseKey = license.license_key;
    expect((await activate(0)).status).toBe(200);
  });
  afterAll(() => server.stop());

  async function selectOther(sql: string): Promise<{ pid: number }[]> {
    const other: Database = await connect({ url, file: '' });
    const [rows] = await other.query(sql);
    await other.close();
    return rows as { pid: number }[];
  }

  it('answers 503 until another session releases its lock', async () => {
    const other = await connect({ url, file: '' });
    const transaction = await lastingTransaction(other, 'LOCK TABLE activations');
    const refused = await activate(1);
    expectFailure(refused, 'unavailable');
    expect(refused.body.message).toContain('locked');
    await transaction.rollback();
    await other.close();
    expect((await activate(1)).status).toBe(200);
  });

  it('answers 503 when an administrator cancels its statement', async () => {
    const other = await connect({ url, file: '' });
    const transaction = await lastingTransaction(other, 'LOCK TABLE activations');
    const refused = await eventually(async () => {
      // On a slow machine, its wait for the lock may be over before it is canceled.
      const over = new AbortController();
      const calling = activate(2).finally(() => over.abort());
      while (!over.signal.aborted)
        await selectOther(
          `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
      const reply = await calling;
      expect(reply.body.message).toContain('busy');
      return reply;
    });
    expectFailure(refused, 'unavailable');
    await transaction.rollback();
    await other.close();
    expect((await activate(2)).status).toBe(200);
  });

  it('answers 503 while PostgreSQL recovers from the kill of a backend, and 200 after that', async () => {
    const backends = await selectOther(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    expect(backends.length).toBeGreaterThan(0);
    // All other backends are terminated, as the one that is killed may have damaged what they share.
    process.kill(backends[0]!.pid, 'SIGKILL');
    let number = 100;
    const seen = new Set<number>();
    await eventually(async () => {
      const reply = await activate((number += 1));
      seen.add(reply.status);
      if (reply.status !== 200) expectFailure(reply, 'unavailable');
      expect(reply.status).toBe(200);
    });
    expect([...seen].filter((status) => ![200, 503].includes(status))).toEqual([]);
    await eventually(async () =>
      expect((await server.get('/health/ready/')).body).toMatchObject({ status: 'ready' }),
    );
  });

  it('answers 503 at most to a call whose connection ends while it is being opened', async () => {
    const address = new URL(await postgres.newDatabase());
    const relay = await startTcpRelay(Number(address.port));
    onTestFinished(() => relay.close());
    address.port = String(relay.port);
    const other = await startTestServer({ flags: { 'database-url': address.href } });
    onTestFinished(() => other.stop());
    const { license_key: ref } = (await other.admin.createLicense({ holder: 'Interrupted' })).license;
    /** Connections to end while Sequelize sets their options. A call tries a second one, and a third. */
    let left = 0;
    const endNext = () =>
      relay.loseAnswerTo((sent) => {
        if (!sent.includes('SET client_min_messages')) return false;
        left -= 1;
        if (left > 0) setImmediate(endNext);
        return true;
      });
    for (let round = 0; round < 5; round += 1) {
      await selectOther(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
      );
      left = 10;
      endNext();
      const calls = await Promise.allSettled(
        [1, 2, 3, 4].map((days) => other.admin.renewLicense({ ref, days })),
      );
      for (const call of calls)
        if (call.status === 'rejected') expect(call.reason).toMatchObject({ code: 'unavailable' });
      await eventually(() => other.admin.renewLicense({ ref, days: 1 }));
    }
  });

  it('logs each refused call in one line, and the error itself once', async () => {
    const database = await startPostgres();
    const other = await startTestServer({ flags: { 'database-url': await database.newDatabase() } });
    try {
      await database.stop();
      const device = { license_key: licenseKey, machine_fingerprint: fingerprintOf(1) };
      const calls = [1, 2, 3, 4].map(() => other.post('/activate/', device));
      const refused = await Promise.all(calls);
      for (const reply of refused) expectFailure(reply, 'unavailable');
      const ids = refused.map(({ headers }) => headers.get('x-request-id'));
      await eventually(() => {
        const lines = logLines(other.dataDir).filter(
          ({ request_id: id, fault }) => fault && ids.includes(id),
        );
        expect(lines.map(({ request_id: id }) => id).toSorted()).toEqual(ids.toSorted());
        expect(new Set(lines.map(({ fault }) => fault))).toEqual(new Set(['unreachable']));
        expect(lines.filter(({ err }) => err !== undefined)).toHaveLength(1);
      });
    } finally {
      await other.stop();
    }
  });

  it('is alive but not ready once PostgreSQL has stopped', async () => {
    await postgres.stop();
    const refused = await activate(1000);
    expectFailure(refused, 'unavailable');
    expect(refused.body.message).toContain('cannot be reached');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await eventually(async () => {
      const { status, body } = await server.get('/health/ready/');
      expect([status, body.checks?.database, body.checks?.storage]).toEqual([503, 'failing', 'ok']);
    });
    expect((await server.get('/health/live/')).status).toBe(200);
    await eventually(async () => expectFailure(await server.get('/health/'), 'unavailable'));
    const { alerts } = await server.admin.listAlerts({});
    expect(alerts.map(({ code }) => code)).toContain('database_not_writable');
  });
});

/** A message of PostgreSQL's protocol: its type, its length and its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

it('survives a PostgreSQL server that ends a connection right after accepting it', async () => {
  const accepted = Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('Z', Buffer.from('I')),
    message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0')),
  ]);
  const ending = createServer((socket) => {
    socket.once('data', () => socket.end(accepted));
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(ending, 'listening');
  onTestFinished(() => void ending.close());
  const { port } = ending.address() as AddressInfo;
  // An unhandled error would end the process.
  await expect(connect({ url: `postgres://desk@127.0.0.1:${port}/desk`, file: '' })).rejects.toThrow();
});
