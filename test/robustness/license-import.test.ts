// An import that is cut off: all of its licenses are there or none, and it can be run again.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selectRows, writeRows } from '../helpers/database.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';

const ROWS = 10_000;
const mapping = { holder: 'who' };

async function upload(server: ServerProcess, rows: number): Promise<string> {
  const { import_id } = await server.admin.uploadImport({ file: new Blob([`who\n${'x\n'.repeat(rows)}`]) });
  return import_id;
}

/** Runs it, and comes back as soon as rows of it are in the open transaction. */
async function runUntilUnderWay(
  server: ServerProcess,
  import_id: string,
): Promise<{ ended: Promise<unknown> }> {
  // Its connection is cut.
  const ended = server.admin.runImport({ import_id, mapping }).catch(() => null);
  for (;;) {
    const { done } = await server.admin.showImport({ import_id });
    if (done > 0) return { ended };
  }
}

async function countIn(dataDir: string, table: string): Promise<number> {
  return Number((await selectRows(dataDir, `SELECT count(*) AS count FROM ${table}`))[0].count);
}

/** The last statement of an import takes hours, so that none is over before the kill. */
const ENDLESS = `CREATE TRIGGER endless BEFORE INSERT ON audit_entries WHEN NEW.action = 'licenses.imported'
  BEGIN SELECT count(*) FROM licenses a, licenses b, licenses c; END`;

it('leaves nothing behind when the server is killed', async () => {
  const dataDir = temporaryDirectory();
  const killed = await startServerProcess({ dataDir });
  const import_id = await upload(killed, ROWS);
  const auditBefore = await countIn(dataDir, 'audit_entries');
  await writeRows(dataDir, ENDLESS);
  const { ended } = await runUntilUnderWay(killed, import_id);
  await killed.kill('SIGKILL');
  await ended;

  const server = await startServerProcess({ dataDir });
  expect(await countIn(dataDir, 'licenses')).toBe(0);
  expect(await countIn(dataDir, 'audit_entries')).toBe(auditBefore);
  expect(await server.admin.showImport({ import_id })).toMatchObject({ state: 'uploaded', total: ROWS });
  await writeRows(dataDir, 'DROP TRIGGER endless');
  expect(await server.admin.runImport({ import_id, mapping })).toMatchObject({ state: 'done', done: ROWS });
  expect(await countIn(dataDir, 'licenses')).toBe(ROWS);
  await server.kill();
});

it('is complete or undone after a stop', async () => {
  const dataDir = temporaryDirectory();
  const stopped = await startServerProcess({ dataDir });
  const import_id = await upload(stopped, ROWS);
  const { ended } = await runUntilUnderWay(stopped, import_id);
  expect((await stopped.kill()).code).toBe(0);
  await ended;

  const licenses = await countIn(dataDir, 'licenses');
  expect([0, ROWS]).toContain(licenses);
  const server = await startServerProcess({ dataDir });
  const { state } = await server.admin.showImport({ import_id });
  expect(state).toBe(licenses === 0 ? 'uploaded' : 'done');
  await server.kill();
});

const disk = mountSmallDisk(16);
if (typeof disk === 'string') process.stderr.write(`license-import.test.ts is cut short: ${disk}\n`);

describe.skipIf(typeof disk === 'string')('a full disk', () => {
  const { path: mountPoint, fill, free, unmount } = disk as SmallDisk;
  const dataDir = join(mountPoint ?? '', 'data');
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServerProcess({ dataDir });
    await server.logLines({ msg: 'job done' });
  });
  afterAll(() => unmount());

  it('refuses an upload, and undoes an import that finds no room any more', async () => {
    const import_id = await upload(server, 5000);
    fill();
    const refused = { code: 'unavailable', status: 503 };
    await expect(upload(server, 20_000)).rejects.toMatchObject(refused);
    await expect(server.admin.runImport({ import_id, mapping })).rejects.toMatchObject(refused);
    expect(await server.admin.showImport({ import_id })).toMatchObject({ state: 'failed', done: 0 });
    expect((await server.admin.listLicenses({})).items).toEqual([]);
    free();
    expect(readdirSync(join(dataDir, 'imports'))).toEqual([`${import_id}.csv`]);
    expect(await server.admin.runImport({ import_id, mapping })).toMatchObject({ state: 'done', done: 5000 });
    await server.kill();
  });
});
