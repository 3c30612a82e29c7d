import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { exchangeBytes, httpCall } from '../helpers/raw-http.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer } from '../helpers/test-server.ts';
import {
  fingerprintIn,
  makePemFiles,
  type PemFiles,
  secureGet,
  type SecureReply,
  shownCertificate,
  shownInstead,
} from '../helpers/tls-client.ts';
import { eventually } from '../helpers/eventually.ts';

const DAY = 86_400_000;
const STAYS = 'the TLS certificate was not replaced';
const TAKEN = 'TLS certificate in use';

function agentThatTrusts(...certificateFiles: string[]): Agent {
  const ca = certificateFiles.map((file) => readFileSync(file, 'utf8'));
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
}

/** Calls again and again, so that the connection is never idle for as long as a server would let it. */
function callsOverOneConnection(url: string, certificateFile: string) {
  const agent = agentThatTrusts(certificateFile);
  const over = new AbortController();
  const replies = (async () => {
    const all: SecureReply[] = [];
    while (!over.signal.aborted) {
      all.push(await secureGet(url, agent));
      await delay(200);
    }
    return all;
  })();
  replies.catch(() => {});
  return {
    end() {
      over.abort();
      return replies;
    },
  };
}

/** In one step, as careful programs do. */
function put(content: string | Buffer, path: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

const copy = (from: string, to: string) => put(readFileSync(from), to);

async function serveFrom({ certificate, key }: PemFiles): Promise<ServerProcess> {
  const server = await startServerProcess({
    dataDir: temporaryDirectory(),
    flags: { tls: `${certificate},${key}` },
  });
  onTestFinished(async () => void (await server.kill()));
  return server;
}

/** The reasons of all warnings, once there are as many. */
async function reasons(server: ServerProcess, count: number): Promise<string[]> {
  const lines = (await server.logLines({ msg: STAYS, level: 40 }, count)) as { reason: string }[];
  return lines.map(({ reason }) => reason);
}

it('--tls CERT,KEY serves the API over TLS, and the back office on loopback as before', async () => {
  const folder = await keptDataDir();
  const { certificate, key } = makePemFiles(folder, 'desk');
  const server = await startTestServer({ flags: { tls: `${certificate},${key}` } });
  expect(server.api).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/license\/api\/svc$/u);
  const { body } = await secureGet(`${server.api}/health/`, agentThatTrusts(certificate));
  expect(body).toMatchObject({ ok: true, status: 'ok' });
  expect((await server.admin.serverInfo({})).api_base_url).toBe(server.api);

  // Plain HTTP on the TLS port is cut off, and nothing else suffers.
  const plain = server.api.replace('https:', 'http:');
  expect(
    await exchangeBytes(plain, 'GET /license/api/svc/health/ HTTP/1.1\r\nHost: x\r\n\r\n'),
  ).not.toContain('"ok":true');
  expect((await httpCall(`${server.adminOrigin}/`)).status).toBe(200);
  await server.stop();
});

it('new files are taken while it runs, and nothing that is broken ever is', async () => {
  const folder = temporaryDirectory();
  const [first, second, third] = ['first', 'second', 'third'].map((name) => makePemFiles(folder, name)) as [
    PemFiles,
    PemFiles,
    PemFiles,
  ];
  const used: PemFiles = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  copy(first.certificate, used.certificate);
  copy(first.key, used.key);
  const server = await serveFrom(used);
  const health = `${server.api}/health/`;
  const old = callsOverOneConnection(health, first.certificate);

  // The certificate comes before its key.
  copy(second.certificate, used.certificate);
  expect(await reasons(server, 1)).toEqual(['the private key does not belong to the certificate']);
  const before = await shownCertificate(server.api);
  expect(before.fingerprint256).toBe(fingerprintIn(first.certificate));
  copy(second.key, used.key);
  const after = await shownInstead(server.api, before);
  expect(after.fingerprint256).toBe(fingerprintIn(second.certificate));
  expect((await secureGet(health, agentThatTrusts(second.certificate))).body).toMatchObject({ ok: true });
  const [, taken] = await server.logLines({ msg: TAKEN }, 2);
  expect(taken).toMatchObject({
    level: 30,
    holder: 'CN=second',
    serial_number: after.serialNumber.toLowerCase(),
    not_after: new Date(after.validTo).toISOString(),
  });

  const whole = readFileSync(third.certificate, 'utf8');
  put(whole.slice(0, whole.length / 2), used.certificate);
  expect((await reasons(server, 2))[1]).toContain('contains no readable certificate');
  put('', used.certificate);
  rmSync(used.key);
  expect((await reasons(server, 3)).at(-1)).toMatch(/ENOENT|contains no/u);
  expect((await shownCertificate(server.api)).fingerprint256).toBe(after.fingerprint256);

  // The other way round, and written in place.
  writeFileSync(used.key, readFileSync(third.key));
  writeFileSync(used.certificate, whole);
  const last = await shownInstead(server.api, after);
  expect(last.fingerprint256).toBe(fingerprintIn(third.certificate));
  // Who was connected stayed so all the while.
  const [opening, ...others] = await old.end();
  expect(opening).toMatchObject({ body: { ok: true }, reused: false });
  expect(others.length).toBeGreaterThan(10);
  for (const reply of others) expect(reply).toMatchObject({ body: { ok: true }, reused: true });
  // Told of once each, not at every look.
  expect((await reasons(server, 0)).length).toBeLessThanOrEqual(6);
});

it('links that are put in place of others are followed, as certbot does it', async () => {
  const live = temporaryDirectory();
  const used: PemFiles = { certificate: join(live, 'fullchain.pem'), key: join(live, 'privkey.pem') };
  const link = (target: string, path: string) => {
    symlinkSync(target, `${path}.new`);
    renameSync(`${path}.new`, path);
  };
  const archive = (name: string) => {
    mkdirSync(join(live, name));
    return makePemFiles(join(live, name), name);
  };
  const [first, second] = [archive('archive1'), archive('archive2')];
  link(first.certificate, used.certificate);
  link(first.key, used.key);
  const server = await serveFrom(used);
  const before = await shownCertificate(server.api);
  expect(before.fingerprint256).toBe(fingerprintIn(first.certificate));

  link(second.key, used.key);
  link(second.certificate, used.certificate);
  const after = await shownInstead(server.api, before);
  expect(after.fingerprint256).toBe(fingerprintIn(second.certificate));
  await secureGet(`${server.api}/health/`, agentThatTrusts(second.certificate));
});

it('warns about a certificate that expires soon, and about an expired one', async () => {
  const folder = await keptDataDir();
  const dataDir = await keptDataDir();
  const { certificate, key } = makePemFiles(folder, 'desk');
  const clock = createTestClock();
  const server = await startTestServer({ dataDir, clock, flags: { tls: `${certificate},${key}` } });
  const logged = () => readFileSync(join(dataDir, 'logs', 'license-desk.1.log'), 'utf8');
  const warning = (text: string) =>
    eventually(() => expect(logged()).toContain(`the TLS certificate in use ${text}`));
  await warning('expires in 1 day,');
  clock.advance(3 * DAY);
  await warning('expired on');
  expect((await shownCertificate(server.api)).fingerprint256).toBe(fingerprintIn(certificate));
  await server.stop();
  expect(logged().match(/the TLS certificate in use/gu)).toHaveLength(2);
});

it('files that do not belong together stop the start, in one line', async () => {
  const folder = await keptDataDir();
  const [first, second] = [makePemFiles(folder, 'first'), makePemFiles(folder, 'second')];
  const tls = `${first.certificate},${second.key}`;
  const message =
    `--tls is "${tls}", but must be two readable PEM files that belong together: ` +
    'the private key does not belong to the certificate';
  await expect(startTestServer({ flags: { tls } })).rejects.toThrow(message);
});

it('swapped files, and files that are not in PEM format, stop the start and are named', async () => {
  const folder = await keptDataDir();
  const { certificate, key } = makePemFiles(folder, 'own');
  const der = join(folder, 'own.der');
  writeFileSync(der, new X509Certificate(readFileSync(certificate)).raw);
  const noCertificate = 'the certificate file contains no readable certificate in PEM format';
  for (const [tls, expected] of [
    [`${key},${certificate}`, noCertificate],
    [`${der},${key}`, noCertificate],
    [`${certificate},${der}`, 'the key file contains no unencrypted private key in PEM format'],
  ] as const)
    await expect(startTestServer({ flags: { tls } })).rejects.toThrow(expected);
});
