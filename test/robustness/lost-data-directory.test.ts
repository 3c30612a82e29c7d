// The data directory is removed or replaced below a running server: changes stop, nothing is written into the other one.
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { fingerprintOf } from '../helpers/test-server.ts';
import { eventually } from '../helpers/eventually.ts';

/** Worker threads begin all the time, and connect anew each time. */
const flags = { 'scan-seconds': '0.2' };

async function startWithLicense(dataDir: string) {
  const server = await startServerProcess({ dataDir, flags });
  const { license } = await server.admin.createLicense({ holder: 'Lost', plan: 'enterprise' });
  const { token } = await server.admin.issueToken({ license: license.license_key });
  const activate = (number: number) =>
    server.post('/activate/', {
      license_key: license.license_key,
      machine_fingerprint: fingerprintOf(number),
    });
  return { server, token, activate };
}

const untilReady = (server: ServerProcess, status: number) =>
  eventually(async () => {
    const reply = await server.get('/health/ready/');
    expect(reply.status).toBe(status);
    return reply;
  });

/** The disk of the machine that runs the tests may be low on space. */
async function criticalAlerts({ admin }: ServerProcess) {
  const { alerts } = await admin.listAlerts({});
  return alerts.filter(({ severity }) => severity === 'critical');
}

it('refuses changes while another directory is in its place, and continues when it is back', async () => {
  const dataDir = temporaryDirectory();
  const { server, token, activate } = await startWithLicense(dataDir);
  expect((await activate(1)).status).toBe(200);

  renameSync(dataDir, `${dataDir}-away`);
  mkdirSync(dataDir);
  await server.logLines({
    msg: 'the data directory was removed or replaced: changes are refused until it is back',
  });
  const refused = await activate(2);
  expect([refused.status, refused.body.error_code]).toEqual([503, 'unavailable']);
  expect(refused.body.message).toContain('data directory');
  const { body } = await untilReady(server, 503);
  expect(body.checks).toEqual({ database: 'failing', storage: 'failing', clock: 'ok', draining: 'ok' });
  expect((await server.get('/health/')).body.details).toMatchObject([{ path: 'checks.database' }]);
  expect((await server.get('/health/live/')).status).toBe(200);
  // What is open can still be read, so that licensed programs keep running.
  expect((await server.post('/authorize/token/', { token })).body.valid).toBe(true);
  expect(await criticalAlerts(server)).toMatchObject([
    { code: 'data_directory_lost', severity: 'critical', params: { path: dataDir } },
  ]);
  expect(readdirSync(dataDir)).toEqual([]);

  rmdirSync(dataDir);
  renameSync(`${dataDir}-away`, dataDir);
  await untilReady(server, 200);
  expect((await activate(2)).status).toBe(200);
  expect(await criticalAlerts(server)).toEqual([]);
  await server.logLines({ job: 'license-scan', msg: 'job done' });
  expect((await server.kill()).code).toBe(0);
});

it('notices that everything in it was deleted, and makes nothing anew', async () => {
  const dataDir = temporaryDirectory();
  const { server, activate } = await startWithLicense(dataDir);
  // Workers may create files meanwhile.
  rmSync(dataDir, { recursive: true, maxRetries: 10 });
  await untilReady(server, 503);
  expect((await activate(1)).status).toBe(503);
  mkdirSync(dataDir);
  expect((await server.kill()).code).toBe(0);
  expect(readdirSync(dataDir)).toEqual([]);
});

it('saves what was confirmed when only the write-ahead log is deleted', async () => {
  const dataDir = temporaryDirectory();
  const { server, activate } = await startWithLicense(dataDir);
  expect((await activate(1)).status).toBe(200);
  rmSync(join(dataDir, 'license-desk.db-wal'));
  await untilReady(server, 503);
  expect((await activate(2)).status).toBe(503);
  await server.kill('SIGKILL');
  rmSync(join(dataDir, 'license-desk.db-shm'), { force: true });

  const next = await startServerProcess({ dataDir });
  const { items } = await next.admin.listLicenses({});
  expect(items).toMatchObject([{ holder: 'Lost', activation_count: 1 }]);
  expect((await next.kill()).code).toBe(0);
});
