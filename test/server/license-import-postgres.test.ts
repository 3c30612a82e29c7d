// An import whose connection to PostgreSQL is lost: its licenses, its state and the file of its keys agree.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { unique } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { connect } from '#server/database/connect.ts';
import { eventually } from '../helpers/eventually.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../helpers/postgres-cluster.ts';
import { lastingTransaction, PATIENT } from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const ROWS = 500;
const LOCK = 7_411_000;

const waitsBeforeCommit = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = ${LOCK}`;
const waitsInCommit = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
describe.skipIf(!hasPostgres)(`an import into PostgreSQL${why}`, () => {
  let postgres: PostgresCluster;
  let url: string;
  let server: TestServer;

  beforeAll(async () => {
    postgres = await startPostgres();
    url = (await postgres.newMigratedDatabase()) + PATIENT;
    await writeRows(
      url,
      // Commits that ask for it wait for a replica that does not exist, although they are on disk.
      `ALTER SYSTEM SET synchronous_standby_names = 'absent'`,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = local', current_database()); END $$`,
      `CREATE FUNCTION wait_before_commit() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN PERFORM pg_advisory_xact_lock(${LOCK}); RETURN NEW; END $$`,
      `CREATE TRIGGER wait_before_commit BEFORE INSERT ON audit_entries
       FOR EACH ROW WHEN (NEW.action = 'licenses.imported') EXECUTE FUNCTION wait_before_commit()`,
      `CREATE FUNCTION wait_in_commit() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN PERFORM set_config('synchronous_commit', 'on', true); RETURN NEW; END $$`,
      `CREATE TRIGGER wait_in_commit BEFORE INSERT ON license_imports
       FOR EACH ROW EXECUTE FUNCTION wait_in_commit()`,
      'ALTER TABLE license_imports DISABLE TRIGGER wait_in_commit',
    );
    await postgres.restart(0);
    server = await startTestServer({ flags: { 'database-url': url } });
  });
  afterAll(async () => {
    await server.stop();
    await postgres.stop();
  });

  /** Uploads a file and begins to import it. */
  async function begin() {
    const product = unique('product');
    const file = new Blob([`who\n${'x\n'.repeat(ROWS)}`]);
    const { import_id } = await server.admin.uploadImport({ file });
    const run = () =>
      server.admin.runImport({ import_id, mapping: { holder: 'who' }, defaults: { product } });
    return { import_id, product, run, done: run() };
  }

  /** Lets imports wait for `release` once all rows are written. */
  async function holdImports() {
    const other = await connect({ url, file: '' });
    onTestFinished(() => other.close());
    const held = await lastingTransaction(other, `SELECT pg_advisory_xact_lock(${LOCK})`);
    return { release: () => held.rollback() };
  }

  const oneOf = (sql: string) =>
    eventually(async () => {
      const rows = await selectRows(url, sql);
      expect(rows).toHaveLength(1);
      return rows[0].pid as number;
    });

  async function terminate(pid: number): Promise<void> {
    expect(await selectRows(url, `SELECT pg_terminate_backend(${pid}) AS ended`)).toEqual([{ ended: true }]);
  }

  async function keysIn(import_id: string): Promise<string[]> {
    const address = `${server.adminOrigin}/admin/api/licenses/import/result/?import_id=${import_id}&part=keys`;
    const reply = await fetch(address, { headers: { authorization: `Bearer ${server.runtimeSecret}` } });
    const [header, ...lines] = (await reply.text()).trimEnd().split('\r\n');
    expect(header).toBe('license_key,who');
    return lines.map((line) => line.split(',')[0] as string).toSorted();
  }

  async function keysOf(product: string): Promise<string[]> {
    const rows = await selectRows(url, `SELECT license_key FROM licenses WHERE product = '${product}'`);
    return rows.map(({ license_key }) => license_key as string).toSorted();
  }

  it('lists the keys of its licenses only, if it runs again after its connection was lost', async () => {
    const { release } = await holdImports();
    const { import_id, product, done } = await begin();
    const first = await oneOf(waitsBeforeCommit);
    await terminate(first);
    await oneOf(`${waitsBeforeCommit} AND pid <> ${first}`);
    await release();
    expect(await done).toMatchObject({ state: 'done', done: ROWS });
    const keys = await keysIn(import_id);
    expect(keys).toHaveLength(ROWS);
    expect(keys).toEqual(await keysOf(product));
  });

  it('is done if the answer to its commit is lost', async () => {
    await writeRows(url, 'ALTER TABLE license_imports ENABLE TRIGGER wait_in_commit');
    const { import_id, product, run, done } = await begin();
    await terminate(await oneOf(waitsInCommit));
    await writeRows(url, 'ALTER TABLE license_imports DISABLE TRIGGER wait_in_commit');
    expect(await done).toMatchObject({ state: 'done', done: ROWS });
    expect(await run()).toMatchObject({ state: 'done', done: ROWS });
    const keys = await keysIn(import_id);
    expect(keys).toHaveLength(ROWS);
    expect(keys).toEqual(await keysOf(product));
  });

  it('is done if the file of its keys cannot be kept', async () => {
    const { release } = await holdImports();
    const { import_id, product, run, done } = await begin();
    await oneOf(waitsBeforeCommit);
    mkdirSync(join(server.dataDir, 'imports', `${import_id}.keys.csv`));
    await release();
    expect(await done).toMatchObject({ state: 'done', done: ROWS });
    expect(await server.admin.showImport({ import_id })).toMatchObject({ state: 'done' });
    expect(await run()).toMatchObject({ state: 'done', done: ROWS });
    expect(await keysOf(product)).toHaveLength(ROWS);
  });
});
