// A full disk: no change is taken on, none is half made, reading goes on, and all is well once there is space again.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { runCli } from '../helpers/cli.ts';
import { selectRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { serveToEnd, type ServerProcess, startServerProcess } from '../helpers/server-process.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

function logOf(dataDir: string): string {
  const folder = join(dataDir, 'logs');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

const disk = mountSmallDisk(16);
if (typeof disk === 'string') process.stderr.write(`disk-full.test.ts is skipped: ${disk}\n`);

describe.skipIf(typeof disk === 'string')('a full disk', () => {
  const { path: mountPoint, fill, free, unmount } = disk as SmallDisk;
  const dataDir = join(mountPoint ?? '', 'data');
  let server: ServerProcess;
  let licenseKey: string;
  let token: string;

  const activate = (number: number) =>
    server.post('/activate/', { license_key: licenseKey, machine_fingerprint: fingerprintOf(number) });

  async function countDevices(): Promise<number> {
    const { items } = await server.admin.listDevices({ ref: licenseKey });
    return items.length;
  }

  beforeAll(async () => {
    server = await startServerProcess({ dataDir });
    await server.logLines({ msg: 'job done' });
    const { license } = await server.admin.createLicense({ holder: 'Full', plan: 'enterprise' });
    licenseKey = license.license_key;
    ({ token } = await server.admin.issueToken({ license: licenseKey }));
  });
  afterAll(() => unmount());

  it('refuses changes as unavailable, and leaves none of them half-made', async () => {
    expect((await activate(0)).status).toBe(200);
    fill();
    let confirmed = 1;
    let refused = 0;
    // The first may still find room in what the database has already taken.
    for (let number = 1; refused < 20; number += 1) {
      const { status, body } = await activate(number);
      if (status === 200) {
        confirmed += 1;
        continue;
      }
      refused += 1;
      expect(status).toBe(503);
      expect(body).toMatchObject({
        ok: false,
        error_code: 'unavailable',
        message: expect.any(String) as string,
      });
      expect(number).toBeLessThan(1000);
    }
    expect(await countDevices()).toBe(confirmed);
    await eventually(async () => {
      const ready = await server.get('/health/ready/');
      expect(ready.status).toBe(503);
      expect(ready.body).toMatchObject({
        ok: false,
        error_code: 'unavailable',
        status: 'not_ready',
        checks: { database: 'ok', storage: 'failing', clock: 'ok', draining: 'ok' },
      });
    });
    expect((await server.get('/health/live/')).status).toBe(200);
    await eventually(async () =>
      expect((await server.admin.listAlerts({})).alerts).toMatchObject([
        { code: 'storage_full', severity: 'critical', params: { free_mb: 0 } },
      ]),
    );
    const rows = await selectRows(
      dataDir,
      `SELECT (SELECT count(*) FROM activations) AS activations, (SELECT count(*) FROM events) AS events,
         (SELECT count(*) FROM audit_entries WHERE action = 'device.activated') AS audits`,
    );
    expect(rows).toEqual([{ activations: confirmed, events: confirmed, audits: confirmed }]);
  });

  it('keeps reading, and survives without a log', async () => {
    for (let call = 0; call < 300; call += 1) {
      const { status } = await server.post('/authorize/token/', { token });
      // The next minute may have begun.
      expect(call < 60 ? [200] : [200, 429]).toContain(status);
      expect((await server.get('/public-key/')).status).toBe(200);
    }
    expect((await server.get('/health/')).status).toBe(200);
    expect(await countDevices()).toBeGreaterThan(0);
  });

  it('does not change a setting, and says why', async () => {
    const file = join(dataDir, 'config.json');
    expect(existsSync(file)).toBe(false);
    const changing = server.admin.updateSettings({ changes: { scan_seconds: 60 } });
    await expect(changing).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the disk is full: changes cannot be saved until it has free space',
    });
    expect(existsSync(file)).toBe(false);
  });

  it('works again without a restart once there is space', async () => {
    const before = await countDevices();
    free();
    expect((await activate(5000)).status).toBe(200);
    expect(await countDevices()).toBe(before + 1);
    const { license } = await server.admin.createLicense({ holder: 'After' });
    expect(license.holder).toBe('After');
    expect(await selectRows(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await eventually(async () => {
      expect((await server.get('/health/ready/')).body).toMatchObject({ ok: true, status: 'ready' });
      expect((await server.admin.listAlerts({})).alerts).toEqual([]);
    });
  });

  it('logs again, including earlier lines', async () => {
    fill();
    // Some two megabytes of log, one more than is kept.
    for (let round = 0; round < 90; round += 1) await atOnce(50, () => server.get(`/${'x'.repeat(256)}/`));
    const lost = await eventually(async () => {
      const { alerts } = await server.admin.listAlerts({});
      const alert = alerts.find(({ code }) => code === 'log_lines_dropped');
      expect(alert).toMatchObject({
        subject: 'license-desk.log',
        params: { count: expect.any(Number) as number },
      });
      return alert;
    });
    expect(lost?.params['count']).toBeGreaterThan(100);
    // And shorter and shorter lines, each written by itself, into whatever room may be left for what waits.
    for (const length of [200, 200, 200, 200, 110, 50, 20, 1, 1, 1]) {
      const path = `/${'y'.repeat(length)}/${randomUUID()}`;
      await server.get(path);
      await server.logLines({ path: `/license/api/svc${path}` });
    }
    free();
    const id = 'once-there-is-space';
    for (let logged = ''; !logged.includes(id); logged = logOf(dataDir)) {
      await server.get('/public-key/', { 'x-request-id': id });
    }
    await server.logLines({ destination: 'license-desk.log' });
    expect(logOf(dataDir)).toContain('log lines were dropped because they could not be written');
  });

  it('lives on when its stderr goes to a file on the full disk, too', async () => {
    const toFile = ['sh', '-c', `exec "$@" 2>>'${join(mountPoint, 'stderr')}'`, 'sh'];
    const other = await startServerProcess({ dataDir: join(mountPoint, 'other'), prefix: toFile });
    fill();
    for (let call = 0; call < 300; call += 1) expect((await other.get('/public-key/')).status).toBe(200);
    expect((await other.kill()).code).toBe(0);
    free();
  });

  it('stops cleanly when it is full, and keeps what was confirmed', async () => {
    fill();
    const devices = await countDevices();
    const end = await server.kill();
    expect(end.code).toBe(0);
    // Of all that failed only the log speaks.
    for (const line of end.stderr.trimEnd().split('\n')) expect(line).toMatch(/^\{.*\}$/u);
    expect(readdirSync(dataDir)).not.toContain('runtime.json');

    // What the stop gave back is gone again.
    fill();
    const { code, stderr } = await serveToEnd({ dataDir });
    expect(stderr).toMatch(/^error: [^\n]+\n$/u);
    expect(code).toBe(1);

    free();
    server = await startServerProcess({ dataDir });
    expect(await countDevices()).toBe(devices);
    expect((await server.kill()).code).toBe(0);
  });
});

test.skipIf(typeof disk === 'string')(
  'a data directory on a read-only disk is refused for that reason',
  async () => {
    const { path, unmount: end } = mountSmallDisk(1) as SmallDisk;
    onTestFinished(end);
    execFileSync('mount', ['-o', 'remount,ro', path]);
    const dataDir = join(path, 'below', 'data');
    const { stderr } = await runCli(['license', 'create', '--holder', 'Acme', '--data-dir', dataDir]);
    expect(stderr).toContain(
      `the data directory ${dataDir} cannot be used: EROFS: read-only file system, access '${path}'`,
    );
  },
);
