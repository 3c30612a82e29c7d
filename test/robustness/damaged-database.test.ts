// Pages of the database are overwritten: it is found without anybody asking for them, and nobody is told that all is well.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { documentOf, runCli } from '../helpers/cli.ts';
import { selectRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

/** Overwrites the first page of a table, which a start does not read. */
async function damageTable(dataDir: string, table: string): Promise<void> {
  const [{ page_size: pageSize }] = await selectRows(dataDir, 'PRAGMA page_size');
  const [{ rootpage }] = await selectRows(
    dataDir,
    `SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = '${table}'`,
  );
  const file = openSync(join(dataDir, 'license-desk.db'), 'r+');
  writeSync(file, Buffer.alloc(pageSize, 0xa5), 0, pageSize, (rootpage - 1) * pageSize);
  closeSync(file);
}

async function damagedDirectory(table: string) {
  const dataDir = await keptDataDir();
  const server = await startTestServer({ dataDir });
  const { license } = await server.admin.createLicense({ holder: 'Damaged' });
  const { token } = await server.admin.issueToken({ license: license.license_key });
  await server.stop();
  await damageTable(dataDir, table);
  return { dataDir, token };
}

it('finds a damaged page after the start, and reports it everywhere', async () => {
  const { dataDir } = await damagedDirectory('certificates');
  const server = await startTestServer({ dataDir, settleMs: 0 });
  const alerts = await eventually(async () => {
    const found = (await server.admin.listAlerts({})).alerts.filter(
      ({ code }) => code === 'database_damaged',
    );
    expect(found).toHaveLength(1);
    return found;
  });
  expect(alerts).toMatchObject([{ code: 'database_damaged', severity: 'critical' }]);
  const ready = await server.get('/health/ready/');
  expect(ready.status).toBe(503);
  expect(ready.body).toMatchObject({ status: 'not_ready', checks: { database: 'failing', draining: 'ok' } });
  expectFailure(await server.get('/health/'), 'unavailable');
  expect((await server.get('/health/live/')).body).toEqual({ ok: true, status: 'ok' });

  const doctor = await runCli(['doctor', '--json', '--data-dir', dataDir]);
  expect(doctor.exitCode).toBe(1);
  const { checks } = documentOf<{ checks: { check: string; ok: boolean; detail: string }[] }>(doctor);
  const failed = checks.filter(({ ok }) => !ok);
  expect(failed.map(({ check }) => check)).toEqual(['server', 'ready', 'alerts', 'database']);
  expect(failed[2]!.detail).toContain('critical database_damaged');
  await server.stop();
});

it('answers a call that meets a damaged page as unavailable, and is not ready from then on', async () => {
  const { dataDir, token } = await damagedDirectory('authorization_tokens');
  const server = await startTestServer({ dataDir });
  await eventually(async () => expect((await server.get('/health/ready/')).status).toBe(200));
  const reply = await server.post('/authorize/token/', { token });
  expectFailure(reply, 'unavailable');
  expect(reply.body.message).toContain('damaged');
  expect((await server.get('/health/ready/')).body.checks).toMatchObject({ database: 'failing' });
  await server.stop();
});

it('finds nothing in a database that is whole', async () => {
  const server = await startTestServer({ settleMs: 0 });
  await eventually(async () =>
    expect((await server.get('/health/ready/')).body).toEqual({
      ok: true,
      status: 'ready',
      checks: { database: 'ok', storage: 'ok', clock: 'ok', draining: 'ok' },
    }),
  );
  const { alerts } = await server.admin.listAlerts({});
  expect(alerts.filter(({ severity }) => severity === 'critical')).toEqual([]);
  // The search is interrupted, and the stop does not wait for it.
  await server.stop();
});
