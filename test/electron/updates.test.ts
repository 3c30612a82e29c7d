// The real electron-updater over a real HTTPS server: what the publisher did not sign is never installed.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, request } from 'node:https';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppUpdater, AppImageUpdater } from 'electron-updater';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { findUpdate } from '../../electron/signed-updates.ts';
import { signManifests, updateKey } from '../../scripts/sign-update.mjs';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';

const folder = mkdtempSync(join(tmpdir(), 'license-desk-updates-'));
const authority = new CertificateAuthority();
const { cert, key } = authority.issue({ altNames: ['IP:127.0.0.1'] });
authority.remove();

/** What the publisher's server has, by path. */
let published: Map<string, Buffer>;
let asked: string[];
const site = createServer({ cert, key }, (incoming, outgoing) => {
  const path = new URL(incoming.url ?? '/', 'https://any').pathname;
  asked.push(path);
  const body = published.get(path);
  outgoing.writeHead(body ? 200 : 404).end(body);
});
let address: string;

function newKey() {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
  return updateKey({ LICENSE_DESK_UPDATE_KEY: pem.toString() })!;
}
const publisher = newKey();

beforeAll(async () => {
  await new Promise<void>((done) => {
    site.listen(0, '127.0.0.1', done);
  });
  address = `https://127.0.0.1:${(site.address() as AddressInfo).port}/desk/`;
});
afterAll(() => {
  site.close();
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(folder, 'home-'));
  published = new Map();
  asked = [];
  vi.stubEnv('APPIMAGE', join(home, 'installed.AppImage'));
  writeFileSync(join(home, 'installed.AppImage'), 'installed');
});

interface Release {
  version?: string;
  released?: string;
  signedBy?: ReturnType<typeof newKey> | null;
  url?: string;
}

/** Puts a release where the app looks, as `npm run package` leaves it. */
function publish({
  version = '1.3.0',
  released = '2026-11-01T00:00:00.000Z',
  signedBy = publisher,
  url = `license-desk-${version}.AppImage`,
}: Release = {}): void {
  const installer = Buffer.from(`the app, version ${version}`);
  const sha512 = createHash('sha512').update(installer).digest('base64');
  const dist = mkdtempSync(join(folder, 'dist-'));
  const manifest = [
    `version: ${version}`,
    'files:',
    `  - url: ${url}`,
    `    sha512: ${sha512}`,
    `    size: ${installer.length}`,
    `path: ${url}`,
    `sha512: ${sha512}`,
    `releaseDate: '${released}'`,
    '',
  ];
  writeFileSync(join(dist, 'latest-linux.yml'), manifest.join('\n'));
  published = new Map([
    ['/desk/latest-linux.yml', readFileSync(join(dist, 'latest-linux.yml'))],
    [`/desk/license-desk-${version}.AppImage`, installer],
  ]);
  if (!signedBy) return;
  expect(signManifests(dist, signedBy)).toEqual(['latest-linux.yml']);
  published.set('/desk/latest-linux.yml.sig', readFileSync(join(dist, 'latest-linux.yml.sig')));
}

interface Transfer {
  cancellationToken: {
    createPromise(run: (...handlers: ((value?: unknown) => void)[]) => void): Promise<unknown>;
  };
}
interface Executor {
  createRequest(options: RequestOptions, callback: (response: IncomingMessage) => void): ClientRequest;
  doDownload(options: RequestOptions, transfer: object, redirects: number): void;
}
const { HttpExecutor, configureRequestUrl } = createRequire(import.meta.resolve('electron-updater'))(
  'builder-util-runtime',
) as { HttpExecutor: new () => Executor; configureRequestUrl(url: URL, options: RequestOptions): void };

/** In place of Electron's network, with the authority of this test trusted. */
class NodeExecutor extends HttpExecutor {
  override createRequest(options: RequestOptions, callback: (response: IncomingMessage) => void) {
    return request({ ...options, agent: false, ca: authority.cert }, callback);
  }

  download(url: URL, destination: string, options: Transfer): Promise<unknown> {
    return options.cancellationToken.createPromise((resolve, reject, onCancel) => {
      const requestOptions: RequestOptions = {};
      configureRequestUrl(url, requestOptions);
      const callback = (error: Error | null) => (error ? reject?.(error) : resolve?.());
      this.doDownload(requestOptions, { destination, options, onCancel, callback, responseHandler: null }, 0);
    });
  }
}

/** The updater of an app of version 1.2.3, and what it would install when the app quits. */
function installedApp() {
  const quitting: ((exitCode: number) => void)[] = [];
  const updater = new AppImageUpdater(null, {
    version: '1.2.3',
    name: 'license-desk',
    isPackaged: true,
    appUpdateConfigPath: join(home, 'app-update.yml'),
    userDataPath: home,
    baseCachePath: home,
    whenReady: () => Promise.resolve(),
    relaunch: () => {},
    quit: () => {},
    onQuit: (handler: (exitCode: number) => void) => quitting.push(handler),
  } as never);
  writeFileSync(join(home, 'app-update.yml'), 'updaterCacheDirName: license-desk\n');
  updater.logger = null;
  updater.on('error', () => {});
  Object.assign(updater, { httpExecutor: new NodeExecutor(), _testOnlyOptions: { platform: 'linux' } });
  const install = vi.spyOn(updater as unknown as { install(): boolean }, 'install').mockReturnValue(true);
  const find = (source: Partial<Parameters<typeof findUpdate>[1]> = {}) =>
    findUpdate(updater as unknown as AppUpdater, {
      address,
      publicKey: publisher.publicKey,
      historyFile: join(home, 'updates.json'),
      ...source,
    });
  /** @returns how often something was installed */
  const quit = () => {
    for (const handler of quitting) handler(0);
    return install.mock.calls.length;
  };
  return { find, quit, updater };
}

test('a signed update is downloaded, and installed when the app quits', async () => {
  publish();
  const { find, quit } = installedApp();
  const found = await find();
  expect(found?.version).toBe('1.3.0');
  expect(asked).not.toContain('/desk/license-desk-1.3.0.AppImage');
  await found?.download?.();
  expect(quit()).toBe(1);
});

test('a downloaded update is installed when the app quits, whatever later checks find', async () => {
  publish();
  const { find, quit } = installedApp();
  await (await find())?.download?.();
  expect((await find())?.version).toBe('1.3.0');
  publish({ version: '1.4.0' });
  expect((await find())?.version).toBe('1.4.0');
  published.clear();
  await expect(find()).rejects.toThrow('404');
  expect(quit()).toBe(1);
});

test('the version that is installed already is no update', async () => {
  publish({ version: '1.2.3' });
  const { find, quit } = installedApp();
  expect(await find()).toBeNull();
  expect(quit()).toBe(0);
});

describe('an update is refused, and nothing is downloaded or installed', () => {
  const refused: [string, () => void, object, RegExp][] = [
    ['without a signature', () => publish({ signedBy: null }), {}, /not signed/u],
    [
      'with the signature of another key',
      () => publish({ signedBy: newKey() }),
      {},
      /signature .* is wrong/u,
    ],
    [
      'with a changed manifest',
      () => {
        publish();
        const manifest = published.get('/desk/latest-linux.yml')!.toString();
        published.set('/desk/latest-linux.yml', Buffer.from(manifest.replace('1.3.0', '1.4.0')));
      },
      {},
      /signature .* is wrong/u,
    ],
    [
      'with a signature that is none',
      () => {
        publish();
        published.set('/desk/latest-linux.yml.sig', Buffer.from('trust me'));
      },
      {},
      /signature .* is wrong/u,
    ],
    ['over http', () => publish(), { address: 'http://127.0.0.1:9/desk/' }, /over https only/u],
    ['without a date', () => publish({ released: 'today' }), {}, /does not say when/u],
  ];

  test.each(refused)('%s', async (_name, prepare, source, message) => {
    prepare();
    const { find, quit, updater } = installedApp();
    await expect(find(source)).rejects.toThrow(message);
    expect(asked.filter((path) => path.endsWith('.AppImage'))).toEqual([]);
    await expect(updater.downloadUpdate()).rejects.toThrow('check update first');
    expect(quit()).toBe(0);
  });

  test('from a signed manifest that leads to http', async () => {
    publish({ url: 'http://127.0.0.1:9/license-desk-1.3.0.AppImage' });
    const { find, quit } = installedApp();
    const found = await find();
    await expect(found?.download?.()).rejects.toThrow(/over https only/u);
    expect(quit()).toBe(0);
  });

  test.each([
    ['of the same length', (file: Buffer) => Buffer.from(file.toString().replace('the app', 'malware'))],
    ['of another length', (file: Buffer) => Buffer.concat([file, file])],
    ['that is empty', () => Buffer.alloc(0)],
  ])('with a file in its place %s', async (_name, tamper) => {
    publish();
    const path = '/desk/license-desk-1.3.0.AppImage';
    published.set(path, tamper(published.get(path)!));
    const { find, quit } = installedApp();
    const found = await find();
    await expect(found?.download?.()).rejects.toThrow(/checksum mismatch/u);
    expect(asked).toContain(path);
    expect(quit()).toBe(0);
  });

  test('with a file that changed on the disk after it was downloaded', async () => {
    publish();
    const { find, quit, updater } = installedApp();
    const found = await find();
    const download = updater.downloadUpdate.bind(updater);
    vi.spyOn(updater, 'downloadUpdate').mockImplementation(async () => {
      const files = await download();
      for (const file of files) writeFileSync(file, 'malware');
      return files;
    });
    await expect(found?.download?.()).rejects.toThrow('not the one that the manifest names');
    expect(quit()).toBe(0);
  });

  test('with an older version than the installed one', async () => {
    publish({ version: '1.2.2' });
    const { find, quit } = installedApp();
    expect(await find()).toBeNull();
    expect(quit()).toBe(0);
  });

  test('with an older manifest than the newest one seen, also after a restart', async () => {
    publish({ version: '1.4.0', released: '2026-11-02T00:00:00.000Z' });
    expect((await installedApp().find())?.version).toBe('1.4.0');
    publish({ version: '1.3.0', released: '2026-11-01T00:00:00.000Z' });
    await expect(installedApp().find()).rejects.toThrow(
      'before the newest one seen (2026-11-02T00:00:00.000Z)',
    );
    publish({ version: '1.4.0', released: '2026-11-02T00:00:00.000Z' });
    expect((await installedApp().find())?.version).toBe('1.4.0');
  });

  test('by a build without a key, which only announces it', async () => {
    publish({ signedBy: null });
    const { find, quit } = installedApp();
    expect(await find({ publicKey: null })).toEqual({ version: '1.3.0', download: null });
    expect(quit()).toBe(0);
  });
});

test('only an Ed25519 key signs updates', () => {
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    format: 'pem',
    type: 'pkcs8',
  });
  expect(() => updateKey({ LICENSE_DESK_UPDATE_KEY: pem.toString() })).toThrow('must be an Ed25519 key');
  expect(updateKey({})).toBeNull();
});
