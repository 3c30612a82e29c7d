// The shipped script makes two users: one that creates tables, and one that is enough for a server in between.
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, describe, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { sqlOf } from '#server/database/sql.ts';
import { callRow, newBearer, ROWS, SAMPLES } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { readEverything } from '../helpers/every-table.ts';
import { hasPostgres, postgresBinaries } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase } from '../helpers/postgres-database.ts';
import { startTestServer } from '../helpers/test-server.ts';

const execute = promisify(execFile);
const SCRIPT = resolve(import.meta.dirname, '../../packaging/postgresql-roles.sql');
const masterKey = Buffer.alloc(32, 5).toString('base64');
const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`users and connections of PostgreSQL${why}`, () => {
  it('each connection has only the parameters of its URL', async () => {
    const url = await newPostgresDatabase();
    const nameOf = async (address: string) => {
      const sequelize = await connect({ url: address, file: '' });
      const rows = await sqlOf(sequelize).select("SELECT current_setting('application_name') AS name");
      await sequelize.close();
      return rows;
    };
    expect(await nameOf(`${url}?application_name=another`)).toEqual([{ name: 'another' }]);
    expect(await nameOf(url)).toEqual([{ name: 'license-desk' }]);
  });

  it('a server that may only read and write rows answers every call, and says what it lacks to migrate', async () => {
    const administrator = await newPostgresDatabase();
    const words = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-v', 'database=roles', '-f', SCRIPT, administrator];
    const env = { ...process.env, DESK_OWNER_PASSWORD: 'a', DESK_SERVER_PASSWORD: 'b' };
    await execute(join(postgresBinaries() ?? '', 'psql'), words, { env });
    const passwords =
      "SELECT rolname AS name, rolpassword IS NOT NULL AS given FROM pg_authid WHERE rolname IN ('desk_owner', 'desk_server') ORDER BY 1";
    expect(await selectRows(administrator, passwords)).toEqual([
      { name: 'desk_owner', given: true },
      { name: 'desk_server', given: true },
    ]);
    const urlOf = (user: string) => {
      const url = new URL(administrator);
      url.username = user;
      url.pathname = '/roles';
      return url.href;
    };
    const start = (user: string) => startTestServer({ flags: { 'database-url': urlOf(user) }, masterKey });

    await expect(start('desk_server')).rejects.toThrow(/permission denied/u);
    await (await start('desk_owner')).stop();
    const server = await start('desk_server');
    onTestFinished(() => server.stop());
    const headers = await newBearer(server);
    // The others make a certificate first, too, whose RSA key takes time.
    const rows = ROWS.filter(([name]) => !['downloadKey', 'validateCertificate'].includes(name));
    for (const [name, row] of rows) {
      const { status, body } = await callRow(server, row, await SAMPLES[name](server), headers);
      expect({ name, status, body: status === 200 ? null : (body as unknown) }).toEqual({
        name,
        status: 200,
        body: null,
      });
    }
    const file = new Blob(['holder\nImported\n']);
    const { import_id } = await server.admin.uploadImport({ file });
    expect(await server.admin.runImport({ import_id, mapping: { holder: 'holder' } })).toMatchObject({
      state: 'done',
    });
    expect(Object.keys(await readEverything(server)).length).toBeGreaterThan(20);
    await eventually(async () => expect((await server.get('/health/ready/')).status).toBe(200));
    await expect(writeRows(urlOf('desk_server'), 'CREATE TABLE more (id BIGINT)')).rejects.toThrow(
      /permission denied/u,
    );
  });
});
