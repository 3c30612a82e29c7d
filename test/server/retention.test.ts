// Old records are removed in small batches, and nothing that is still needed goes with them.
import { mkdirSync, utimesSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { runRetentionOn } from '../helpers/retention.ts';
import { runScan } from '../helpers/scan.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2035, 5, 15, 12);
const clock = sharedClock(START);

type Kind = 'sqlite' | 'postgres';

/** `count` events from that many days ago, each with one delivery and one attempt. */
function plantEvents(first: number, count: number, daysAgo: number, status = 'delivered'): string[] {
  const at = START - daysAgo * DAY_MS;
  const due = ['pending', 'delivering', 'retrying'].includes(status) ? String(START) : 'NULL';
  const ids = `WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${first + count - 1})`;
  return [
    `INSERT INTO events (id, name, body, created_at) ${ids} SELECT i, 'license.activated', '{}', ${at} FROM n`,
    `INSERT INTO deliveries (id, event_id, webhook_id, status, next_attempt_at, created_at)
     ${ids} SELECT i, i, 900, '${status}', ${due}, ${at} FROM n`,
    `INSERT INTO delivery_attempts (id, delivery_id, started_at, ms, delivered, reply)
     ${ids} SELECT i, i, ${at}, 5, 1, 'ok' FROM n`,
  ];
}

const WEBHOOK = `INSERT INTO webhooks (id, url, scope, secret_sealed, created_at, deleted_at)
  VALUES (900, 'https://receiver.example/', 'all', 'none', 0, 1)`;
const TABLES = [
  'delivery_attempts',
  'deliveries',
  'events',
  'webhooks',
  'pruned_deliveries',
  'retention_runs',
];

describe.each<Kind>(['sqlite', 'postgres'])('on %s', (kind) => {
  const isSkipped = kind === 'postgres' && !hasPostgres;
  let url: string | null = null;
  let server: TestServer;

  beforeAll(async () => {
    if (isSkipped) return;
    if (kind === 'postgres') {
      url = await newMigratedPostgresDatabase();
    }
    server = await startTestServer({ clock, flags: url === null ? {} : { 'database-url': url } });
  });
  afterAll(async () => {
    await server?.stop();
  });
  beforeEach(() =>
    isSkipped ? undefined : write(...TABLES.map((table) => `DELETE FROM ${table}`), WEBHOOK),
  );

  async function onDatabase<Result>(work: (query: (sql: string) => Promise<unknown>) => Promise<Result>) {
    const sequelize = await connect({ url, file: join(server.dataDir, 'license-desk.db') });
    try {
      return await work(async (sql) => (await sequelize.query(sql))[0]);
    } finally {
      await sequelize.close();
    }
  }
  const write = (...statements: string[]) =>
    onDatabase(async (query) => {
      for (const sql of statements) await query(sql);
    });
  const count = (table: string) =>
    onDatabase(async (query) => {
      const [row] = (await query(`SELECT count(*) AS "count" FROM ${table}`)) as { count: number }[];
      return row?.count;
    });
  const counts = async () => ({
    events: await count('events'),
    deliveries: await count('deliveries'),
    attempts: await count('delivery_attempts'),
  });
  type Options = Partial<Parameters<typeof runRetentionOn>[0]>;
  const run = (options: Options = {}) => runRetentionOn({ dataDir: server.dataDir, clock, url, ...options });
  const totals = async () => (await server.admin.stats({})).webhooks;

  it.skipIf(isSkipped)('removes old events with deliveries and attempts, and no newer ones', async () => {
    await write(...plantEvents(1, 450, 402), ...plantEvents(1001, 30, 100), ...plantEvents(2001, 20, 10));
    expect((await run()).removed).toEqual({ attempts: 480, deliveries: 450, events: 450 });
    expect(await counts()).toEqual({ events: 50, deliveries: 50, attempts: 20 });
  });

  it.skipIf(isSkipped)('keeps unsent deliveries of any age', async () => {
    await write(
      ...plantEvents(1, 3, 500, 'pending'),
      ...plantEvents(11, 3, 500, 'retrying'),
      ...plantEvents(21, 3, 500, 'delivering'),
      ...plantEvents(31, 3, 500, 'failed'),
      ...plantEvents(41, 3, 399, 'failed'),
    );
    await run({ settings: { retainAttemptsDays: 0 } });
    expect(await counts()).toEqual({ events: 12, deliveries: 12, attempts: 12 });
  });

  it.skipIf(isSkipped)('leaves the totals in the statistics as they are', async () => {
    await write(
      ...plantEvents(1, 230, 500),
      ...plantEvents(1001, 5, 500, 'failed'),
      ...plantEvents(2001, 7, 1),
    );
    const before = await totals();
    expect(before).toMatchObject({ delivered: 237, failed: 5 });
    await run();
    expect(await count('deliveries')).toBe(7);
    expect(await totals()).toEqual(before);
  });

  it.skipIf(isSkipped)('removes at most 200 rows in a transaction', async () => {
    await write(...plantEvents(1, 450, 500));
    const sizes: number[] = [];
    await run({ onBatch: (rows) => sizes.push(rows), settings: { retainAttemptsDays: 0 } });
    expect(sizes).toEqual([200, 200, 200, 200, 200, 200, 50, 50, 50, 1]);
  });

  it.skipIf(isSkipped)('continues where a run was cancelled', async () => {
    await write(...plantEvents(1, 500, 500));
    let batches = 0;
    const first = await run({ onBatch: () => void (batches += 1), isCancelled: () => batches >= 4 });
    expect(first.removed).toEqual({ attempts: 500, deliveries: 200 });
    expect((await run()).removed).toEqual({ deliveries: 300, events: 500, webhooks: 1 });
    expect(await totals()).toMatchObject({ delivered: 500 });
  });

  it.skipIf(isSkipped)('removes a deleted webhook with the last of its deliveries', async () => {
    await write(...plantEvents(1, 1, 500), ...plantEvents(11, 1, 10));
    expect((await run()).removed).not.toHaveProperty('webhooks');
    clock.advance(400 * DAY_MS);
    expect((await run()).removed).toMatchObject({ webhooks: 1 });
    expect(await count('webhooks')).toBe(0);
  });

  it.skipIf(isSkipped)('removes nothing while the clock cannot be trusted', async () => {
    await write(...plantEvents(1, 5, 500));
    expect(await run({ isTrusted: () => false })).toEqual({ removed: {}, held: true });
    expect(await count('events')).toBe(5);
  });

  it.skipIf(isSkipped)('keeps everything where a setting is 0', async () => {
    await write(...plantEvents(1, 5, 5000));
    const settings = {
      retainEventsDays: 0,
      retainAttemptsDays: 0,
      retainAuditDays: 0,
      retainImportsDays: 0,
      retainRestoresDays: 0,
    };
    expect(await run({ settings })).toEqual({ removed: {} });
  });

  it.skipIf(isSkipped)('reports what is stored, how long it is kept, and what was removed', async () => {
    await write(...plantEvents(1, 230, 500), ...plantEvents(1001, 7, 2));
    await run();
    const { items, database, last_run_at: lastRun } = await server.admin.showRetention({});
    expect([database.dialect, lastRun]).toEqual([kind, new Date(START).toISOString()]);
    expect(database.bytes).toBeGreaterThan(50_000);
    expect(items.find((item) => item.kind === 'deliveries')).toMatchObject({
      entries: 7,
      entries_estimated: false,
      oldest_at: new Date(START - 2 * DAY_MS).toISOString(),
      setting: 'retain_events_days',
      keep_days: 400,
      last_removed: 230,
      removed_total: 230,
    });
    expect(items.find((item) => item.kind === 'events')?.bytes).toBeGreaterThan(0);
  });
});

describe('on the data directory', () => {
  const server = sharedServer({ clock });
  const run = (options: Partial<Parameters<typeof runRetentionOn>[0]> = {}) =>
    runRetentionOn({ dataDir: server.dataDir, clock, ...options });

  it('sends no notice twice after its event was removed', async () => {
    const license = await newLicense(server, { expires_at: new Date(START - DAY_MS).toISOString() });
    const scan = async () => {
      await writeRows(
        server.dataDir,
        `UPDATE licenses SET notice_due_at = ${clock.now()} WHERE revoked_at IS NULL`,
      );
      return (await runScan(server.dataDir, clock)).emitted;
    };
    const eventsOf = () =>
      selectRows(server.dataDir, `SELECT name, term FROM events WHERE license_id = ${license.license_id}`);
    expect(await scan()).toBe(1);
    clock.advance(300 * DAY_MS);
    expect(await scan()).toBe(1);
    clock.advance(402 * DAY_MS);
    expect((await run()).removed).toMatchObject({ events: 2 });
    expect(await eventsOf()).toEqual([]);
    expect(await scan()).toBe(0);
    expect(await selectRows(server.dataDir, 'SELECT name, term FROM license_notices ORDER BY name')).toEqual([
      { name: 'license.expired', term: 1 },
      { name: 'license.in_grace', term: 1 },
    ]);
    // The next term has its own notices, and those of the former one are forgotten with its events.
    await server.admin.renewLicense({ ref: license.license_key, days: 1 });
    expect(await scan()).toBe(1);
    clock.advance(402 * DAY_MS);
    await run();
    expect(await selectRows(server.dataDir, 'SELECT name, term FROM license_notices')).toEqual([
      { name: 'license.expiring', term: 2 },
    ]);
  });

  it('keeps the audit log unless a limit is set, and records that it was pruned', async () => {
    const old = START - 800 * DAY_MS;
    await writeRows(
      server.dataDir,
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
       INSERT INTO audit_entries (created_at, actor_kind, actor_name, action, subject)
       SELECT ${old}, 'public', 'public', 'device.activated', 'license:1' FROM n`,
    );
    expect((await run()).removed).not.toHaveProperty('audit');
    expect((await run({ settings: { retainAuditDays: 730 } })).removed).toMatchObject({ audit: 250 });
    const { items } = await server.admin.listAudit({ action: 'audit.pruned' });
    expect(items).toMatchObject([
      {
        actor_kind: 'system',
        actor_name: 'retention',
        after: { entries_before: expect.stringMatching(/T00:00:00/u) },
      },
    ]);
    // One entry per day at most.
    await run({ settings: { retainAuditDays: 730 } });
    expect((await server.admin.listAudit({ action: 'audit.pruned' })).items).toHaveLength(1);
  });

  it('removes replies that no repeated call can ask for any more', async () => {
    const row = (key: string, at: number) =>
      `INSERT INTO idempotent_replies (idempotency_key, endpoint, caller, request_hash, reply_sealed, created_at)
       VALUES ('${key}', 'renew', 'x', 'x', 'x', ${at})`;
    await writeRows(server.dataDir, row('old', START - DAY_MS - 1), row('new', START - DAY_MS + 1));
    expect((await run()).removed).toEqual({ idempotency: 1 });
    expect(await selectRows(server.dataDir, 'SELECT idempotency_key FROM idempotent_replies')).toEqual([
      { idempotency_key: 'new' },
    ]);
  });

  it('removes records of imports, and uploads that were never imported', async () => {
    const record = (id: string, days: number) =>
      `INSERT INTO license_imports (import_id, licenses, finished_at) VALUES ('${id}', 1, ${START - days * DAY_MS})`;
    await writeRows(server.dataDir, record('old', 32), record('new', 20));
    const imports = join(server.dataDir, 'imports');
    mkdirSync(imports, { recursive: true });
    for (const [name, hours] of [
      ['old', 25],
      ['new', 23],
    ] as const) {
      const path = join(imports, `${name}.csv`);
      writeFileSync(path, 'holder\n');
      const at = new Date(Date.now() - hours * 3_600_000);
      utimesSync(path, at, at);
    }
    expect((await run()).removed).toEqual({ imports: 1 });
    expect([existsSync(join(imports, 'old.csv')), existsSync(join(imports, 'new.csv'))]).toEqual([
      false,
      true,
    ]);
  });

  it('removes folders that restores left, and nothing that looks similar', async () => {
    const names = [
      'before-restore-20350401T120000Z',
      'before-restore-20350401T120000Z-2',
      'before-restore-20350610T120000Z',
      'before-restore-mine',
    ];
    for (const name of names) {
      mkdirSync(join(server.dataDir, name));
      writeFileSync(join(server.dataDir, name, 'license-desk.db'), 'x'.repeat(1000));
    }
    const restores = async () =>
      (await server.admin.showRetention({})).items.find((item) => item.kind === 'restores');
    expect(await restores()).toMatchObject({
      entries: 3,
      bytes: 3000,
      oldest_at: '2035-04-01T12:00:00.000Z',
    });
    expect((await run()).removed).toEqual({ restores: 2 });
    expect(names.map((name) => existsSync(join(server.dataDir, name)))).toEqual([false, false, true, true]);
    expect(await restores()).toMatchObject({ entries: 1, bytes: 1000, last_removed: 2 });
  });
});
