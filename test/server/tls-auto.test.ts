import { execFile, execFileSync } from 'node:child_process';
import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSealer } from '#server/platform/sealer.ts';
import { AUTHORITY_EXTENSIONS, makeForeignAuthority } from '../certificates/foreign-authority.ts';
import { runCli } from '../helpers/cli.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import {
  SERVE,
  type ServeOptions,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../helpers/server-process.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { secureGet, shownCertificate, shownCertificates, shownInstead } from '../helpers/tls-client.ts';

const run = promisify(execFile);
const DAY = 86_400_000;
const flags = { tls: 'auto' };
const kept = (dataDir: string) => join(dataDir, 'tls', 'server.json');

async function serve(options: Partial<ServeOptions> & { dataDir: string }): Promise<ServerProcess> {
  const server = await startServerProcess({ ...options, flags: { ...flags, ...options.flags } });
  onTestFinished(async () => void (await server.kill()));
  return server;
}

/** As administrators hand it to their clients. */
async function authorityFile(dataDir: string): Promise<string> {
  const file = join(temporaryDirectory('client'), 'ca.pem');
  const { exitCode, stderr } = await runCli(['cert', 'ca', '--out', file, '--data-dir', dataDir]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return file;
}

/** A new connection by a client that trusts this file and nothing else. */
async function health(api: string, caFile: string, servername?: string): Promise<unknown> {
  const agent = new Agent({ ca: readFileSync(caFile) });
  try {
    return (await secureGet(`${api}/health/`, agent, servername)).body;
  } finally {
    agent.destroy();
  }
}

/** @throws unless OpenSSL's client accepts what it is shown */
async function opensslClient(api: string, ...options: string[]): Promise<void> {
  const words = ['s_client', '-connect', new URL(api).host, '-verify_return_error', ...options];
  const connecting = run('openssl', words);
  // It would talk on for as long as there is something to say.
  connecting.child.stdin?.end();
  await connecting;
}

const lifeOf = ({ validFrom, validTo }: X509Certificate) => Date.parse(validTo) - Date.parse(validFrom);

/** Every file that the server keeps, and the names they have. */
function allFilesIn(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path));
}

describe('--tls auto', () => {
  it('has a certificate that clients of the authority accept under every name of the machine', async () => {
    const server = await serve({
      dataDir: temporaryDirectory(),
      flags: { host: '0.0.0.0', 'base-url': 'https://Lizenzen.example:8443/' },
    });
    expect(server.ready.api).toMatch(/^https:\/\/127\.0\.0\.1:/u);
    const ca = await authorityFile(server.dataDir);
    expect(await health(server.api, ca)).toMatchObject({ ok: true });
    const own = await shownCertificate(server.api);
    for (const name of ['localhost', hostname(), 'lizenzen.example']) {
      expect(await health(server.api, ca, name)).toMatchObject({ ok: true });
      await opensslClient(server.api, '-CAfile', ca, '-verify_hostname', name);
    }
    const others = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const reachable = others.filter(({ internal, family }) => !internal && family === 'IPv4');
    for (const ip of ['127.0.0.1', '::1', ...reachable.map(({ address }) => address)]) {
      expect(own.checkIP(ip)).toBe(ip);
      await opensslClient(server.api, '-CAfile', ca, '-verify_ip', ip);
    }

    await expect(health(server.api, ca, 'other.example')).rejects.toThrow('other.example');
    await expect(
      opensslClient(server.api, '-CAfile', ca, '-verify_hostname', 'other.example'),
    ).rejects.toThrow();
    const stranger = await serve({ dataDir: temporaryDirectory() });
    await expect(health(stranger.api, ca)).rejects.toThrow();
  });

  it('is a good certificate for a server, and for nothing else', async () => {
    const server = await serve({ dataDir: temporaryDirectory() });
    const ca = await authorityFile(server.dataDir);
    const [own, ...more] = await shownCertificates(server.api);
    expect(more).toEqual([]);
    const pem = own!.toString();
    const file = join(temporaryDirectory('shown'), 'own.pem');
    writeFileSync(file, pem);
    const verify = (purpose: string) =>
      run('openssl', ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', ca, file]);
    expect((await verify('sslserver')).stdout).toBe(`${file}: OK\n`);
    await expect(verify('sslclient')).rejects.toThrow('unsuitable certificate purpose');
    expect(Math.round(lifeOf(own!) / DAY)).toBe(90);
    expect(own!.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(await server.admin.validateCertificate({ certificate: pem })).toMatchObject({
      valid: false,
      status: 'unknown',
    });
  });

  it('keeps it over restarts, sealed, and then loads nothing that builds certificates', async () => {
    const dataDir = temporaryDirectory();
    // What builds certificates is CommonJS, which Node keeps a list of.
    const hook = `import { createRequire } from 'node:module';
      const isForge = (path) => path.includes('node-forge');
      process.on('exit', () => {
        const { cache } = createRequire('file:///');
        process.stderr.write(JSON.stringify({ forge: Object.keys(cache).some(isForge) }) + '\\n');
      });`;
    const program = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, ...SERVE];
    const first = await serve({ dataDir, program });
    const shown = await shownCertificate(first.api);
    expect((await first.kill()).stderr).toContain('{"forge":true}');
    const second = await serve({ dataDir, program });
    expect((await shownCertificate(second.api)).fingerprint256).toBe(shown.fingerprint256);
    const { stderr } = await second.kill();
    expect(stderr).toContain('{"forge":false}');

    const content = JSON.parse(readFileSync(kept(dataDir), 'utf8')) as Record<string, string>;
    const masterKey = Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8'), 'base64');
    const der = createSealer(masterKey).open('server-certificate', content['private_key_sealed']!);
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    expect(shown.checkPrivateKey(key)).toBe(true);
    const { d } = key.export({ format: 'jwk' }) as { d: string };
    const secret = Buffer.from(d, 'base64url');
    const [, ...pemLines] = key.export({ format: 'pem', type: 'pkcs8' }).toString().split('\n');
    const spellings = [secret, secret.toString('hex'), d, secret.toString('base64'), pemLines[1]!];
    const written = [...allFilesIn(dataDir), Buffer.from(stderr)];
    for (const spelling of spellings) expect(written.filter((bytes) => bytes.includes(spelling))).toEqual([]);
    expect(written.some((bytes) => bytes.includes(content['private_key_sealed']!))).toBe(true);
    if (process.platform !== 'win32') expect(statSync(kept(dataDir)).mode & 0o777).toBe(0o600);
  });

  it('makes another when the names have changed, or when the file cannot be used', async () => {
    const dataDir = await keptDataDir();
    const prints: string[] = [];
    const startAndLook = async (more: Record<string, string> = {}) => {
      const server = await startTestServer({ dataDir, flags: { ...flags, ...more } });
      const own = await shownCertificate(server.api);
      prints.push(own.fingerprint256);
      await server.stop();
      return own;
    };
    expect((await startAndLook()).checkHost('desk.example')).toBeUndefined();
    const named = await startAndLook({ 'base-url': 'https://desk.example' });
    expect(named.checkHost('desk.example')).toBe('desk.example');
    writeFileSync(kept(dataDir), readFileSync(kept(dataDir), 'utf8').replace('v1.', 'v1.AAAA'));
    await startAndLook({ 'base-url': 'https://desk.example' });
    expect(new Set(prints).size).toBe(3);
  });

  it('replaces it in time while it runs, and when the clock is set back', async () => {
    const clock = createTestClock();
    const server = await startInTest({ clock });
    const first = await shownCertificate(server.api);
    clock.advance(61 * DAY);
    const second = await shownInstead(server.api, first);
    expect(Date.parse(second.validTo)).toBeGreaterThan(clock.now() + 89 * DAY);
    expect(second.publicKey.equals(first.publicKey)).toBe(false);
    clock.advance(-61 * DAY);
    const third = await shownInstead(server.api, second);
    const agent = new Agent({ ca: (await server.admin.showAuthority({})).authority.ca_certificate });
    expect((await secureGet(`${server.api}/health/`, agent)).body).toMatchObject({ ok: true });
    agent.destroy();
    expect(Date.parse(third.validFrom)).toBeLessThan(Date.now());
  });

  it('replaces it when the authority is renewed, and then when one is imported, chain and all', async () => {
    const server = await startInTest();
    const first = await shownCertificate(server.api);
    const { authority } = await server.admin.renewAuthority({});
    const second = await shownInstead(server.api, first);
    const folder = await keptDataDir();
    const chain = makeAuthorityUnderRoot(folder);
    writeFileSync(join(folder, 'made.pem'), authority.ca_certificate);
    expect(await health(server.api, join(folder, 'made.pem'))).toMatchObject({ ok: true });

    await server.admin.importAuthority(chain);
    await shownInstead(server.api, second);
    const shown = await shownCertificates(server.api);
    expect(shown.map(({ subject }) => subject.split('\n').at(-1))).toEqual([`CN=${hostname()}`, 'CN=Issuer']);
    // Never longer than the authority itself.
    expect(shown[0]!.validTo).toBe(shown[1]!.validTo);
    expect(await health(server.api, join(folder, 'root.pem'))).toMatchObject({ ok: true });
  });

  it('keeps it when an authority for clients only is imported; without one it does not start', async () => {
    const onlyClients = [...AUTHORITY_EXTENSIONS, 'extendedKeyUsage=clientAuth'];
    const root = makeForeignAuthority({ subject: '/CN=Root', extensions: onlyClients });
    const below = makeForeignAuthority({ subject: '/CN=Below', signer: root });
    const dataDir = temporaryDirectory();
    const server = await serve({ dataDir });
    const ca = await authorityFile(dataDir);
    const shown = await shownCertificate(server.api);
    const reasons = async (count: number) => {
      const about = { tls: 'auto', msg: 'the TLS certificate was not replaced' };
      const lines = (await server.logLines(about, count)) as { reason: string }[];
      return lines.map(({ reason }) => reason);
    };
    const refusal = (name: string) =>
      `--tls is "auto", but the certificate authority allows no server certificates: the extended key usage of CN=${name} lacks serverAuth; import another authority, or set --tls to CERT,KEY`;

    await server.admin.importAuthority({
      certificate: below.certificate + root.certificate,
      private_key: below.key,
    });
    expect(await reasons(1)).toEqual([refusal('Root')]);
    const issuer = makeForeignAuthority({ subject: '/CN=Issuer', extensions: onlyClients });
    await server.admin.importAuthority({ certificate: issuer.certificate, private_key: issuer.key });
    expect(await reasons(2)).toEqual([refusal('Root'), refusal('Issuer')]);
    expect((await shownCertificate(server.api)).fingerprint256).toBe(shown.fingerprint256);
    expect(await health(server.api, ca)).toMatchObject({ ok: true });

    await server.kill();
    const again = await serve({ dataDir });
    expect(await health(again.api, ca)).toMatchObject({ ok: true });
    await again.kill();
    rmSync(kept(dataDir));
    await expect(startTestServer({ dataDir, flags })).rejects.toThrow(refusal('Issuer'));
  });

  it('keeps it when an authority does not permit its names, and replaces it when one does', async () => {
    const limited = (subject: string, constraints: string) =>
      makeForeignAuthority({
        subject,
        extensions: [...AUTHORITY_EXTENSIONS, `nameConstraints=critical,${constraints}`],
      });
    const server = await serve({ dataDir: temporaryDirectory() });
    const shown = await shownCertificate(server.api);
    const reasons = async (count: number) => {
      const about = { tls: 'auto', msg: 'the TLS certificate was not replaced' };
      const lines = (await server.logLines(about, count)) as { reason: string }[];
      return lines.map(({ reason }) => reason);
    };
    const refusal = (what: string) =>
      `--tls is "auto", but the certificate authority allows no certificate for this server: the name constraints of ${what}; import another authority, or set --tls to CERT,KEY`;

    const root = limited('/CN=Root', 'permitted;IP:10.0.0.0/255.0.0.0');
    const below = makeForeignAuthority({ subject: '/CN=Below', signer: root });
    await server.admin.importAuthority({
      certificate: below.certificate + root.certificate,
      private_key: below.key,
    });
    const first = refusal('CN=Root do not permit 127.0.0.1');
    expect(await reasons(1)).toEqual([first]);
    const host = limited('/CN=Host', 'excluded;DNS:localhost');
    await server.admin.importAuthority({ certificate: host.certificate, private_key: host.key });
    expect(await reasons(2)).toEqual([first, refusal('CN=Host do not permit localhost')]);
    expect((await shownCertificate(server.api)).fingerprint256).toBe(shown.fingerprint256);

    const names = ['localhost', hostname(), hostname().replace(/\..*$/u, '')].map(
      (name) => `permitted;DNS:${name}`,
    );
    const open = limited(
      '/CN=Open',
      [...names, 'excluded;DNS:.localhost', 'excluded;IP:10.0.0.0/255.0.0.0'].join(','),
    );
    await server.admin.importAuthority({ certificate: open.certificate, private_key: open.key });
    await shownInstead(server.api, shown);
    for (const name of ['localhost', hostname()])
      await opensslClient(server.api, '-CAfile', open.certificateFile, '-verify_hostname', name);
  });

  it('keeps its certificate after the authority expires and warns; without one it does not start', async () => {
    const dataDir = await keptDataDir();
    const clock = createTestClock();
    const first = await startTestServer({ dataDir, flags, clock });
    const shown = await shownCertificate(first.api);
    await first.stop();
    clock.advance(3700 * DAY);
    const second = await startTestServer({ dataDir, flags, clock });
    expect((await shownCertificate(second.api)).fingerprint256).toBe(shown.fingerprint256);
    await second.stop();
    rmSync(kept(dataDir));
    await expect(startTestServer({ dataDir, flags, clock })).rejects.toThrow(
      /^--tls is "auto", but the certificate authority expired on \S+; import its new certificate$/u,
    );
  });
});

async function startInTest(
  options: { clock?: ReturnType<typeof createTestClock> } = {},
): Promise<TestServer> {
  const server = await startTestServer({ ...options, flags });
  onTestFinished(() => server.stop());
  return server;
}

/** For 30 days, under a root that stays at home. */
function makeAuthorityUnderRoot(folder: string): { certificate: string; private_key: string } {
  const at = (name: string) => join(folder, name);
  const openssl = (words: string) =>
    execFileSync('openssl', words.split(' '), { cwd: folder, stdio: 'ignore' });
  const usage = 'keyUsage=critical,keyCertSign,cRLSign';
  const about = `basicConstraints=critical,CA:TRUE,pathlen:0\n${usage}\nsubjectKeyIdentifier=hash\n`;
  writeFileSync(at('ca.cnf'), about);
  const newKey = 'req -newkey rsa:2048 -nodes';
  openssl(`${newKey} -x509 -days 60 -subj /CN=Root -keyout root.key -out root.pem -addext ${usage}`);
  openssl(`${newKey} -subj /CN=Issuer -keyout ca.key -out ca.csr`);
  const root = '-CA root.pem -CAkey root.key -CAcreateserial';
  openssl(`x509 -req -in ca.csr ${root} -days 30 -extfile ca.cnf -out ca.pem`);
  const text = (name: string) => readFileSync(at(name), 'utf8');
  return { certificate: text('ca.pem') + text('root.pem'), private_key: text('ca.key') };
}
