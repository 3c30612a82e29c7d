// The server as a process: what it says, how it stops, where it can live.
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { cliOn } from '../helpers/cli.ts';
import { selectRows } from '../helpers/database.ts';
import {
  SERVE,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../helpers/server-process.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const yesterday = () => new Date(Date.now() - DAY_MS).toISOString();
/** Where nothing is due, jobs leave the first seconds to others. */
const SCAN_SOON = { 'scan-seconds': '0.2' };

/** Ends the server, and expects a clean end: exit code 0, nothing left to recover, no lock, no runtime file. */
async function expectCleanEnd(server: ServerProcess, signal?: NodeJS.Signals): Promise<void> {
  const { code } = await server.kill(signal);
  expect(code).toBe(0);
  expect(readRuntimeFile(server.dataDir)).toBe(null);
  expect(readdirSync(server.dataDir).filter((name) => /-(wal|shm|journal)$|\.tmp$/u.test(name))).toEqual([]);
  expect(await selectRows(server.dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
}

/** A connection to one of the listeners, once it is made. */
async function openConnection(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  await new Promise((done, failed) => {
    socket.once('connect', done);
    socket.once('error', failed);
  });
  return socket;
}

/** Tries until the listener takes no more connections. */
async function stopsAccepting(address: string): Promise<void> {
  for (;;) {
    try {
      (await openConnection(address)).destroy();
    } catch {
      return;
    }
  }
}

it('prints one line on stdout when it is ready, and logs as JSON on stderr', async () => {
  const server = await startServerProcess({ dataDir: temporaryDirectory() });
  expect(server.ready).toEqual({
    event: 'ready',
    api: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/license\/api\/svc\/$/u) as unknown,
    admin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]{32,}$/u) as unknown,
    pid: server.pid,
  });
  await server.get('/health/', { 'x-forwarded-for': '10.0.0.1', forwarded: 'for=10.0.0.1' });
  await server.post('/authorize/token/', { token: 'ldt_unknown' }, { 'x-forwarded-for': '10.0.0.1' });
  const { stdout, stderr } = await server.kill();
  expect(stdout).toBe(`${JSON.stringify(server.ready)}\n`);
  for (const line of stderr.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('time');
});

it('reports its database and its jobs as healthy', async () => {
  const server = await startServerProcess({ dataDir: temporaryDirectory(), flags: SCAN_SOON });
  await server.logLines({ msg: 'job done' });
  const { status, body } = await server.get('/health/');
  expect(status).toBe(200);
  expect(body).toMatchObject({ ok: true, status: 'ok', checks: { database: 'ok', jobs: 'ok' } });
  await expectCleanEnd(server);
});

it('scans at the start, in a worker thread, for what fell due before', async () => {
  const dataDir = temporaryDirectory();
  const cli = cliOn(dataDir);
  const create = ['license', 'create', '--holder', 'Late', '--expires-at', yesterday()];
  for (const plan of ['trial', 'standard']) await cli.ok(...create, '--plan', plan);

  // The next round is a day away.
  const server = await startServerProcess({ dataDir, flags: { 'scan-seconds': '86400' } });
  await server.logLines({ job: 'license-scan', looked: 2, emitted: 2 });
  expect(await selectRows(dataDir, 'SELECT name FROM events ORDER BY license_id')).toEqual([
    { name: 'license.expired' },
    { name: 'license.in_grace' },
  ]);
  await expectCleanEnd(server);
});

describe.each<NodeJS.Signals>(['SIGTERM', 'SIGINT'])('%s', (signal) => {
  it('ends an idle server within 5 seconds', async () => {
    const server = await startServerProcess({ dataDir: temporaryDirectory() });
    await server.get('/health/');
    // A stop that takes longer ends with 1.
    await expectCleanEnd(server, signal);
  });

  it('lets a request that is under way finish', async () => {
    const server = await startServerProcess({ dataDir: temporaryDirectory() });
    const { license } = await server.admin.createLicense({ holder: 'Slow' });
    const body = JSON.stringify({ license_key: license.license_key, machine_fingerprint: fingerprintOf(1) });
    const request = await openConnection(server.api);
    request.write(
      `POST /license/api/svc/activate/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
    );
    // A request after it on another connection is answered: so the first one has arrived.
    await server.get('/health/');
    const reply = text(request);
    const ended = server.kill(signal);
    await stopsAccepting(server.api);
    request.write(body.slice(20));
    expect(await reply).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*"activation":\{"id":1,/u);
    // Else the caller goes on sending requests on this connection, and one of them is cut off in the end.
    expect(await reply).toMatch(/^Connection: close\r$/imu);
    expect((await ended).code).toBe(0);
    const activations = await selectRows(server.dataDir, 'SELECT machine_fingerprint FROM activations');
    expect(activations).toEqual([{ machine_fingerprint: fingerprintOf(1) }]);
  });

  it('answers everything that it carried out, under load', async () => {
    const server = await startServerProcess({ dataDir: temporaryDirectory() });
    const { license } = await server.admin.createLicense({ holder: 'Busy', plan: 'enterprise' });
    let next = 0;
    let confirmed = 0;
    let stopping: Promise<void> | undefined;
    const caller = async () => {
      for (;;) {
        next += 1;
        const request = { license_key: license.license_key, machine_fingerprint: fingerprintOf(next) };
        const reply = await server.post('/activate/', request).catch(() => null);
        if (reply === null) return;
        expect(reply.status).toBe(200);
        confirmed += 1;
        if (confirmed === 50) stopping = expectCleanEnd(server, signal);
      }
    };
    await Promise.all(Array.from({ length: 8 }, caller));
    await stopping;
    const [row] = await selectRows(server.dataDir, 'SELECT count(*) AS count FROM activations');
    expect(row.count).toBe(confirmed);
  });

  it('is not held up by connections on which nothing ever comes, or half a request', async () => {
    const server = await startServerProcess({ dataDir: temporaryDirectory() });
    for (const address of [server.api, server.adminOrigin]) {
      await openConnection(address);
      const half = await openConnection(address);
      half.on('error', () => {});
      half.write('GET / HTTP/1.1\r\nHost: local');
    }
    await server.get('/health/');
    // A stop that takes longer ends with 1.
    await expectCleanEnd(server, signal);
  });
});

it('leaves nothing to recover, even when a scan is under way', async () => {
  const dataDir = temporaryDirectory();
  for (let scans = 1; scans <= 4; scans += 1) {
    const server = await startServerProcess({ dataDir, flags: { 'scan-seconds': '0.05' } });
    await server.logLines({ msg: 'job done' }, (scans % 4) + 1);
    await expectCleanEnd(server);
  }
});

it('keeps running when its stderr is no longer read', async () => {
  const server = await startServerProcess({ dataDir: temporaryDirectory() });
  server.closeOutput();
  for (let call = 0; call < 100; call += 1) await server.get('/public-key/');
  // A second time: the first failed write may be the one that is noticed.
  expect((await server.get('/health/')).status).toBe(200);
  await expectCleanEnd(server);
});

describe('a place with an awkward name', () => {
  const AWKWARD = 'Program Files (x86) & žluťoučký + 100% #1';

  it('is no trouble as data directory', async () => {
    const dataDir = temporaryDirectory(AWKWARD);
    const first = await startServerProcess({ dataDir });
    const { license } = await first.admin.createLicense({ holder: 'Kůň', expires_at: yesterday() });
    await expectCleanEnd(first);
    const second = await startServerProcess({ dataDir });
    await second.logLines({ job: 'license-scan', emitted: 1 });
    const { status } = await second.post('/activate/', {
      license_key: license.license_key,
      machine_fingerprint: fingerprintOf(1),
    });
    expect(status).toBe(200);
    await expectCleanEnd(second);
  });

  it('is no trouble as installation, for the worker threads too', async () => {
    const project = resolve(import.meta.dirname, '../..');
    const installed = join(temporaryDirectory(AWKWARD), 'app');
    mkdirSync(installed);
    for (const part of ['out/main', 'out/renderer', 'out/api-docs', 'package.json']) {
      cpSync(join(project, part), join(installed, part), { recursive: true });
    }
    symlinkSync(join(project, 'node_modules'), join(installed, 'node_modules'));
    expect(SERVE[0]).toBe(join(project, 'out/main/cli.js'));
    const server = await startServerProcess({
      dataDir: temporaryDirectory(),
      program: [join(installed, 'out/main/cli.js'), 'serve'],
      flags: SCAN_SOON,
    });
    await server.logLines({ job: 'license-scan', msg: 'job done' });
    expect((await fetch(server.adminOrigin)).headers.get('content-type')).toMatch('text/html');
    expect((await fetch(`${server.api}/docs/swagger-ui.css`)).status).toBe(200);
    await expectCleanEnd(server);
  });
});
