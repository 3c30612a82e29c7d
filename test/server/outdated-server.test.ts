// A server whose database a newer version migrates while the server does not report, so that the migration does not wait for
// it.
import { QueryTypes, type Sequelize } from 'sequelize';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { eventually } from '../helpers/eventually.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { lastingTransaction, newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import {
  serveToEnd,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../helpers/server-process.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
const env = { LICENSE_DESK_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
const LEADER_LOCK = 8_787_002;
const NEWER = '9999-newer';

describe.skipIf(!hasPostgres)(`a server that a migration did not wait for${why}`, () => {
  let url: string;
  let database: Sequelize;

  beforeEach(async () => {
    url = await newMigratedPostgresDatabase();
    database = await connect({ url, file: '' });
  });
  afterEach(() => database.close());

  const options = () => ({ dataDir: temporaryDirectory(), flags: { 'database-url': url }, env });

  async function countLocks(where: string): Promise<number> {
    const rows = await database.query(
      `SELECT 1 FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND ${where}`,
      { type: QueryTypes.SELECT },
    );
    return rows.length;
  }

  const countLeaders = () => countLocks(`locktype = 'advisory' AND granted AND objid = ${LEADER_LOCK}`);

  const setOldestSchema = (name: string) =>
    database.query(`UPDATE schema_support SET min_app_schema = '${name}'`);

  describe('and that works on', () => {
    let server: ServerProcess;
    let license_key: string;

    beforeEach(async () => {
      server = await startServerProcess(options());
      const { license } = await server.admin.createLicense({ holder: 'Gefrierfach', plan: 'enterprise' });
      ({ license_key } = license);
    });
    afterEach(() => server.kill());

    const activate = (number: number) =>
      server.post('/activate/', { license_key, machine_fingerprint: fingerprintOf(number) });

    it('refuses changes from the first one after it was frozen, leads no others, and goes on when it may', async () => {
      expect((await activate(1)).status).toBe(200);
      await eventually(async () => expect(await countLeaders()).toBe(1));
      const [support] = await database.query<{ name: string }>(
        'SELECT min_app_schema AS name FROM schema_support',
        {
          type: QueryTypes.SELECT,
        },
      );
      process.kill(server.pid, 'SIGSTOP');
      // PostgreSQL has not heard of it for three seconds.
      await eventually(async () => expect(await countLeaders()).toBe(0));
      await database.query(`INSERT INTO migrations (name) VALUES ('${NEWER}')`);
      await setOldestSchema(NEWER);
      const replies = [2, 3, 4].map((number) => activate(number));
      process.kill(server.pid, 'SIGCONT');
      for (const reply of await Promise.all(replies)) {
        expectFailure(reply, 'unavailable');
        expect(reply.body.message).toContain('a newer version has migrated the database');
      }
      const ready = await server.get('/health/ready/');
      expect([ready.status, ready.body.checks.database]).toEqual([503, 'failing']);
      expect((await server.admin.listDevices({ ref: license_key })).items).toHaveLength(1);
      expect(await countLeaders()).toBe(0);

      await setOldestSchema(support!.name);
      await eventually(async () => expect((await activate(2)).status).toBe(200));
      await eventually(async () => expect((await server.get('/health/ready/')).status).toBe(200));
      await eventually(async () => expect(await countLeaders()).toBe(1));
    });

    it('refuses changes without having been frozen', async () => {
      await eventually(async () => expect(await countLeaders()).toBe(1));
      await setOldestSchema(NEWER);
      let devices = 0;
      await eventually(async () => {
        devices += 1;
        expectFailure(await activate(devices), 'unavailable');
      });
      await eventually(async () => expect(await countLeaders()).toBe(0));
    });
  });

  it('and that comes back before its end, undoes the migration', async () => {
    await database.query('DROP TABLE schema_support');
    await database.query(`DELETE FROM migrations WHERE name LIKE '%-schema-support'`);
    const lock = await lastingTransaction(database, 'LOCK TABLE migrations IN SHARE MODE');
    const ended = serveToEnd(options());
    await eventually(async () =>
      expect(await countLocks(`NOT granted AND relation = CAST('migrations' AS regclass)`)).toBe(1),
    );
    // Dated an hour ahead: a server counts as gone six seconds after its report.
    await database.query(`
      INSERT INTO servers (id, name, address, version, schema_name, started_at, last_seen_at, state, is_leader,
        clock_skew_ms, database_ms)
      SELECT 'other', 'elsewhere', 'http://elsewhere', '0.0.1', '0018-device-history', 0,
        (extract(epoch FROM clock_timestamp()) + 3600) * 1000, 'ready', 0, 0, 0`);
    await lock.commit();
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('elsewhere (http://elsewhere) runs version 0.0.1'),
    ]);
    const [table] = await database.query(`SELECT to_regclass('schema_support') AS name`, {
      type: QueryTypes.SELECT,
    });
    expect(table).toEqual({ name: null });
  });
});
