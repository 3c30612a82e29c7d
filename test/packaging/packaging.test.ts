// What `npm run package` would hand out: which files, how the binary is locked, and that the server runs from them.
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageServerForDebian } from '../../scripts/server-deb.mjs';
import { archiveServer } from '../../scripts/server-package.mjs';
import { untilFirstCrl } from '../helpers/crl.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { hasNginx } from '../webhooks/nginx.ts';
import { packApp, type PackedApp, project } from './packed-app.ts';
import { type Proxy, SITE, startProxy } from './proxy.ts';

const execute = promisify(execFile);

const MOST_BYTES = 40_000_000;
const SYSTEMD = '/usr/bin/systemd-analyze';
/** Nobody listens there, so what is sent to it fails. */
const CLOSED = 'https://127.0.0.1:9/hooks';
const API = '/license/api/svc';
const TOKEN_CALLS = 3;

let app: PackedApp;

beforeAll(async () => {
  app = await packApp();
});

const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as Record<string, never>;
const configuration = readFileSync(join(project, 'electron-builder.yml'), 'utf8');

describe('the archive', () => {
  it('contains the whole build', () => {
    const built = globSync('out/{main,preload,renderer,api-docs,icons}/**', {
      cwd: project,
      withFileTypes: true,
    })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(project.length + 1));
    const workers = globSync('*-worker.ts', { cwd: join(project, 'server/jobs') });
    expect(built.length).toBeGreaterThan(100);
    expect(workers.length).toBeGreaterThan(2);
    expect(app.files).toEqual(
      expect.arrayContaining([
        ...built,
        ...workers.map((file) => `out/main/jobs/${basename(file, '.ts')}.js`),
        'out/main/main.js',
        'out/main/server.js',
        'out/main/cli.js',
        'out/preload/preload.cjs',
        'out/renderer/index.html',
        'out/api-docs/swagger-ui.css',
        'LICENSE',
        'package.json',
      ]),
    );
  });

  it('has the icons of the tray, each twice', () => {
    const states = ['tray-ok', 'tray-attention', 'tray-down'];
    const names = [...states, 'trayTemplate', 'trayAttentionTemplate', 'trayDownTemplate'];
    const icons = names.flatMap((name) => [`out/icons/${name}.png`, `out/icons/${name}@2x.png`]);
    expect(app.files.filter((file) => file.startsWith('out/icons/')).toSorted()).toEqual(icons.toSorted());
  });

  it('contains nothing else', () => {
    const tops = new Set(app.files.map((file) => file.split('/').slice(0, 2).join('/')));
    const known = new Set(['main', 'preload', 'renderer', 'api-docs', 'icons'].map((name) => `out/${name}`));
    expect([...tops].filter((top) => !known.has(top) && !top.startsWith('node_modules/')).toSorted()).toEqual(
      ['LICENSE', 'package.json'],
    );
    const leftovers = app.files.filter((file) => /\.(ts|mts|cts|vue|map|c|cc|cpp|h|gyp)$/u.test(file));
    expect(leftovers).toEqual([]);
  });

  it('has no package but those that run', () => {
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; dev?: boolean }>;
    };
    // By version, not by place: packing gathers what is the same.
    const running = new Set(
      Object.entries(lock.packages)
        .filter(([, { dev }]) => !dev)
        .map(([path, { version }]) => `${path.replace(/^.*node_modules\//u, '')}@${version}`),
    );
    const packages = app.files
      .filter((file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/u.test(file))
      .map((file) => JSON.parse(app.read(file)) as { name: string; version: string });
    expect(packages.length).toBeGreaterThan(100);
    const strangers = packages.map(({ name, version }) => `${name}@${version}`);
    expect(strangers.filter((name) => !running.has(name))).toEqual([]);
    const names = packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest['dependencies'] ?? {})));
    const unneeded = Object.keys(manifest['devDependencies'] ?? {});
    expect(names.filter((name) => unneeded.includes(name))).toEqual([]);
  });

  it('has for each package those that it needs, but for what compiles the driver', () => {
    const folders = app.files.filter((file) => file.endsWith('/package.json')).map(dirname);
    const isThere = (folder: string, name: string): boolean =>
      folders.includes(join(folder, 'node_modules', name)) ||
      (folder !== '.' && isThere(dirname(folder), name));
    const missing = folders.flatMap((folder) => {
      const { name, dependencies = {} } = JSON.parse(app.read(join(folder, 'package.json'))) as {
        name?: string;
        dependencies?: Record<string, string>;
      };
      return Object.keys(dependencies)
        .filter((needed) => !needed.startsWith('@types/') && !isThere(folder, needed))
        .map((needed) => `${name}: ${needed}`);
    });
    const compiling = ['sqlite3: node-addon-api', 'sqlite3: prebuild-install', 'sqlite3: tar'];
    expect(missing.filter((line) => !line.includes(': bare-')).toSorted()).toEqual(compiling);
  });

  it('keeps the licenses of its packages', () => {
    const withLicense = (folder: string, files: readonly string[]) =>
      files.some((file) => dirname(file) === folder && /^licen[sc]e/iu.test(basename(file)));
    const missing = Object.keys(manifest['dependencies'] ?? {})
      .map((name) => `node_modules/${name}`)
      .filter((folder) => {
        const installed = globSync(`${folder}/*`, { cwd: project });
        return withLicense(folder, installed) && !withLicense(folder, app.files);
      });
    expect(missing).toEqual([]);
  });

  it('leaves only the native file outside', () => {
    const native = 'node_modules/sqlite3/build/Release/node_sqlite3.node';
    expect(app.unpacked()).toEqual([native]);
    const outside = statSync(join(`${app.archive}.unpacked`, native));
    expect(statSync(app.archive).size + outside.size).toBeLessThanOrEqual(MOST_BYTES);
  });

  it('has a manifest without what is of the sources only', () => {
    const packed = JSON.parse(app.read('package.json')) as Record<string, unknown>;
    expect(packed).toMatchObject({
      name: 'license-desk',
      version: manifest['version'],
      type: 'module',
      main: './out/main/main.js',
      desktopName: 'license-desk.desktop',
      // Without these there is no Debian package.
      homepage: expect.stringMatching(/^https:/u),
      author: expect.any(String),
    });
    expect(packed).not.toHaveProperty('devDependencies');
    expect(packed).not.toHaveProperty('scripts');
  });
});

describe('third-party packages', () => {
  const beside = (file: string) => readFileSync(join(app.folder, 'resources', file), 'utf8');
  const inArchive = () =>
    app.files
      .filter((file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/u.test(file))
      .map((file) => JSON.parse(app.read(file)) as { name: string; version: string })
      .map(({ name, version }) => `${name}@${version}`);
  const inBundles = () => {
    const recorded = globSync('out/.packages/*.json', { cwd: project });
    expect(recorded).toHaveLength(3);
    return recorded
      .flatMap((file) => JSON.parse(readFileSync(join(project, file), 'utf8')) as string[])
      .map((path) => JSON.parse(readFileSync(join(project, path, 'package.json'), 'utf8')) as Named)
      .map(({ name, version }) => `${name}@${version}`);
  };
  interface Named {
    name: string;
    version: string;
  }

  it('are all in the bill of materials, those of the page included', () => {
    const bom = JSON.parse(beside('sbom.cdx.json')) as {
      bomFormat: string;
      metadata: { component: object };
      components: { name: string; version: string; purl: string; licenses?: object[] }[];
    };
    expect(bom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: expect.stringMatching(/^1\./u) as string,
    });
    expect(bom.metadata.component).toMatchObject({ name: 'license-desk', version: manifest['version'] });
    const listed = bom.components.map(({ name, version }) => `${name}@${version}`);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed).toEqual(expect.arrayContaining([...inArchive(), ...inBundles()]));
    const page = ['vue', 'pinia', 'chart.js', 'vue-i18n', 'vue-router', 'qrcode', 'swagger-ui-dist'];
    const names = bom.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...page, 'sqlite', 'node', 'electron']));
    expect(names).not.toContain('vitest');
    expect(bom.components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
  });

  it('have their licenses in one file, with texts', () => {
    const text = beside('THIRD-PARTY-LICENSES.txt');
    const titles = new Set(text.match(/^\S+ \S+(?=\nLicense: )/gmu)?.map((line) => line.replace(' ', '@')));
    expect([...inArchive(), ...inBundles()].filter((name) => !titles.has(name))).toEqual([]);
    const without = [
      ...text.matchAll(/^(\S+) \S+\nLicense: .+\n-+\n\nThe package contains no license text/gmu),
    ];
    // Looked at one by one: scripts/third-party.mjs says why.
    expect(without.map(([, name]) => name)).toEqual([
      '@vue/devtools-api',
      'combine-errors',
      'custom-error-instance',
      'lazy-val',
      'numbered',
      'tiny-case',
      'type-fest',
    ]);
  });

  it('are listed in the server’s package, and for About', () => {
    for (const file of ['THIRD-PARTY-LICENSES.txt', 'sbom.cdx.json'])
      expect(readFileSync(join(app.server, file), 'utf8')).toBe(beside(file));
    const { packages, texts } = JSON.parse(app.read('out/renderer/third-party.json')) as {
      packages: { name: string; version: string; text: number }[];
      texts: string[];
    };
    const listed = packages.map(({ name, version }) => `${name}@${version}`);
    expect(listed).toEqual(expect.arrayContaining([...inArchive(), ...inBundles()]));
    for (const { text } of packages) expect(texts[text]?.length).toBeGreaterThan(50);
  });

  it('are recorded for everything that the page imports', () => {
    const sources = globSync('renderer/src/**/*.{ts,vue}', { cwd: project });
    const imports = sources.flatMap((file) => [
      ...readFileSync(join(project, file), 'utf8').matchAll(
        /^import (?!type )[^;]*?from '(?![./#])((?:@[^/']+\/)?[^/']+)/gmu,
      ),
    ]);
    const imported = new Set(imports.map(([, name]) => name));
    expect(imported.size).toBeGreaterThan(5);
    const names = inBundles().map((name) => name.replace(/@[^@]+$/u, ''));
    expect(names).toEqual(expect.arrayContaining([...imported]));
  });
});

describe('the app', () => {
  it('is locked against use for anything else', () => {
    expect(app.fuses()).toEqual({
      runAsNode: false,
      cookieEncryption: true,
      nodeOptions: false,
      nodeCliInspect: false,
      embeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
      loadBrowserProcessSpecificV8Snapshot: false,
      grantFileProtocolExtraPrivileges: false,
    });
  });

  it('keeps an unsigned Mac build startable, and lets the server stop before Windows replaces it', () => {
    expect(configuration).toMatch(/^ {2}resetAdHocDarwinSignature: true$/mu);
    const [, script = ''] = /^ {2}include: (.+)$/mu.exec(configuration) ?? [];
    const installer = readFileSync(join(project, script), 'utf8');
    expect(installer).toContain('!macro customCheckAppRunning');
    expect(installer).toContain('--quit');
  });

  it('shows no page from a file, as without that privilege Chromium reads none in an archive', () => {
    const shell = app.files.filter((file) => /^out\/main\/[^/]*\.js$/u.test(file));
    const loading = shell.filter((file) =>
      /\.loadFile\(|\.loadURL\(\s*(?:pathToFileURL|['"`]file:)/u.test(app.read(file)),
    );
    expect(loading).toEqual([]);
  });

  it('brings the languages that it speaks', () => {
    expect(globSync('*', { cwd: join(app.folder, 'locales') }).toSorted()).toEqual(['de.pak', 'en-US.pak']);
  });

  it('knows no address for updates', () => {
    const update = readFileSync(join(app.folder, 'resources', 'app-update.yml'), 'utf8');
    expect(update).toContain('provider: generic');
    expect(update).toMatch(/^url: https:\/\/[a-z]+\.invalid\/$/mu);
  });

  it('pins the key that updates must be signed with', () => {
    expect(JSON.parse(app.read('package.json'))).toMatchObject({ updatePublicKey: app.updatePublicKey });
  });

  it('is the one that the shell says it is', () => {
    const identity = readFileSync(join(project, 'electron/app-identity.ts'), 'utf8');
    const [, id] = /^appId: (.+)$/mu.exec(configuration) ?? [];
    const [, name] = /^productName: (.+)$/mu.exec(configuration) ?? [];
    expect(identity).toContain(`'${id}'`);
    expect(identity).toContain(`'${name}'`);
  });

  it('has icons in every form that the platforms ask for', () => {
    const named = [...configuration.matchAll(/^ *icon: (.+)$/gmu)].map(([, path = '']) => path);
    const files = named.flatMap((path) => {
      const full = join(project, path);
      if (/\.(ico|icns)$/u.test(path)) return [full];
      if (existsSync(full)) return globSync('*.png', { cwd: full }).map((file) => join(full, file));
      return [`${full}.ico`, `${full}.icns`];
    });
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) {
      const bytes = readFileSync(file);
      if (file.endsWith('.icns')) {
        expect(bytes.toString('latin1', 0, 4)).toBe('icns');
        expect(bytes.readUInt32BE(4)).toBe(bytes.length);
      } else if (file.endsWith('.ico')) {
        const count = bytes.readUInt16LE(4);
        const sizes = Array.from({ length: count }, (_, index) => bytes.readUInt8(6 + index * 16) || 256);
        expect(sizes).toEqual(expect.arrayContaining([16, 32, 48, 256]));
        const last = 6 + (count - 1) * 16;
        expect(bytes.readUInt32LE(last + 8) + bytes.readUInt32LE(last + 12)).toBe(bytes.length);
      } else {
        const side = bytes.readUInt32BE(16);
        expect(basename(file)).toBe(`${side}x${side}.png`);
      }
    }
  });
});

describe('the server’s package', () => {
  const dataDir = temporaryDirectory();
  let server: ServerProcess;

  async function cli(...words: string[]): Promise<Record<string, never>> {
    const all = [...words, '--data-dir', dataDir, '--json'];
    const { stdout } = await execute(join(app.server, 'license-desk'), all, { cwd: dataDir });
    return JSON.parse(stdout) as Record<string, never>;
  }

  /** To pack all of it takes longer than everything before that. No command of the package runs afterwards. */
  const leaveOutNode = () => truncateSync(join(app.server, 'node'), 1000);

  beforeAll(async () => {
    server = await startServerProcess({
      dataDir,
      program: [join(app.server, 'out/main/server.js')],
      flags: {
        'base-url': `https://${SITE}`,
        'trust-proxy': 'on',
        'rate-limit': String(TOKEN_CALLS),
        'scan-seconds': '0.2',
        'webhook-allow': '127.0.0.0/8',
        'webhook-backoff-seconds': '0.01',
      },
    });
  });
  afterAll(() => server.kill());

  it('is healthy, jobs included', async () => {
    const { status, body } = await server.get('/health/');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ok', version: manifest['version'], checks: { jobs: 'ok' } });
  });

  it('serves the page and the reference of the API', async () => {
    const page = await (await fetch(`${server.adminOrigin}/`)).text();
    const [, script = ''] = /<script[^>]+src="\.?\/?([^"]+)"/u.exec(page) ?? [];
    expect((await fetch(`${server.adminOrigin}/${script}`)).status).toBe(200);
    expect(await (await fetch(`${server.api}/docs/`)).text()).toContain('swagger-ui');
    expect((await fetch(`${server.api}/docs/swagger-ui-bundle.js`)).status).toBe(200);
    const { body } = await server.get('/openapi.json');
    expect(body).toMatchObject({ info: { title: 'License Desk' } });
  });

  it('has a command line, and workers that scan, deliver and keep the revocation list', async () => {
    await cli('webhook', 'register', '--url', CLOSED);
    const { license } = await cli('license', 'create', '--holder', 'Ústav soudního lékařství', '--days', '3');
    const { license_id: id } = license as unknown as { license_id: number };
    const failed = async () => (await server.admin.listDeliveries({ status: 'failed' })).items;
    await expect.poll(failed).toEqual([
      expect.objectContaining({
        event: 'license.expiring',
        attempts: 6,
        last_error: 'connection refused',
      }),
    ]);
    const { certificate } = await cli('cert', 'issue', '--license', String(id), '--common-name', 'packed');
    await cli('cert', 'revoke', (certificate as unknown as { serial_number: string }).serial_number);
    await untilFirstCrl(server);
    expect((await server.get('/certs/crl/')).body).toMatchObject({ revoked: [{ reason: 'unspecified' }] });
  });

  it('makes a backup', async () => {
    const file = join(dataDir, 'desk.tar');
    await cli('backup', '--out', file);
    expect(statSync(file).size).toBeGreaterThan(10_000);
  });

  describe.skipIf(!hasNginx())('behind nginx with the shipped configuration', () => {
    let proxy: Proxy;

    beforeAll(async () => {
      proxy = await startProxy(Number(new URL(server.api).port));
    });

    it('passes nginx’s own check', () => {
      expect(proxy.verdict).toContain('test is successful');
      expect(proxy.verdict).not.toMatch(/\[(warn|emerg)\]/u);
    });

    it('answers under its own name', async () => {
      const { status, said } = await proxy.call(`${API}/health/`);
      expect([status, JSON.parse(said)]).toEqual([200, expect.objectContaining({ ok: true })]);
      const { said: description } = await proxy.call(`${API}/openapi.json`);
      expect(JSON.parse(description)).toMatchObject({ servers: [{ url: `https://${SITE}${API}` }] });
    });

    it('gives the service’s own answer to what is too large', async () => {
      const { status, said } = await proxy.call(`${API}/activate/`, { body: { text: 'x'.repeat(100_000) } });
      expect([status, JSON.parse(said)]).toEqual([
        413,
        expect.objectContaining({ error_code: 'payload_too_large' }),
      ]);
    });

    it('limits calls by their real address and ignores a forged one', async () => {
      const statuses: number[] = [];
      for (let call = 0; call <= TOKEN_CALLS; call += 1) {
        const headers = { 'x-forwarded-for': `10.0.0.${call}` };
        const { status } = await proxy.call(`${API}/authorize/token/`, { body: { token: 'none' }, headers });
        statuses.push(status);
      }
      expect(statuses).toEqual([...Array.from({ length: TOKEN_CALLS }, () => 401), 429]);
    });

    it('does not expose the back office', async () => {
      expect((await proxy.call('/')).status).toBe(404);
      expect((await proxy.call('/admin/api/licenses/')).status).toBe(404);
    });
  });

  it.skipIf(!existsSync(SYSTEMD))(
    'writes a unit that systemd accepts, for what is in the package',
    async () => {
      const words = ['service', 'install', '--dry-run', '--data-dir', '/var/lib/license-desk', '--json'];
      const { stdout: plan } = await execute(join(app.server, 'license-desk'), words);
      const { steps } = JSON.parse(plan) as { steps: { do: string; content?: string }[] };
      const unit = steps.find((step) => step.do === 'write')?.content ?? '';
      expect(unit).toContain(
        `ExecStart=${app.server}/node --disable-sigusr1 ${app.server}/out/main/cli.js serve`,
      );
      const file = join(temporaryDirectory(), 'license-desk.service');
      writeFileSync(file, unit.replaceAll(/^User=.*$/gmu, 'User=root'));
      const { stdout, stderr } = await execute(SYSTEMD, ['verify', '--man=no', file]);
      expect(stdout + stderr).toBe('');
    },
  );

  it('has the manual page of this version', async () => {
    const { page } = await cli('manual');
    expect(readFileSync(join(app.server, 'license-desk.1'), 'utf8')).toBe(page);
  });

  it.skipIf(!existsSync('/usr/bin/dpkg-deb'))('has the manual page where Debian looks for it', async () => {
    const version = String(manifest['version']);
    const work = temporaryDirectory();
    leaveOutNode();
    const deb = await packageServerForDebian(app.server, work, version, temporaryDirectory(), 'none');
    await execute('dpkg-deb', ['--extract', deb, work]);
    const page = gunzipSync(readFileSync(join(work, 'usr/share/man/man1/license-desk.1.gz')));
    expect(page.toString()).toBe(readFileSync(join(app.server, 'license-desk.1'), 'utf8'));
    expect(existsSync(join(work, 'usr/lib/license-desk-server/license-desk.1'))).toBe(false);
  });

  it('is one archive that keeps what may be executed', async () => {
    const file = join(temporaryDirectory(), 'server.tar.gz');
    leaveOutNode();
    await archiveServer(app.server, file);
    const { stdout } = await execute('tar', ['-tvzf', file], { maxBuffer: 10_000_000 });
    const programs = stdout
      .split('\n')
      .filter((line) => line.startsWith('-rwx') && /\/(node|license-desk)$/u.test(line));
    expect(programs).toHaveLength(2);
    expect(stdout).toContain(' license-desk-server/INSTALLING.md');
    expect(stdout).toContain(' license-desk-server/license-desk.1');
  });
});
