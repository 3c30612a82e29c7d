// What a restore puts in place, and what it keeps; also where it was interrupted.
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sealUnderPassphrase } from '#server/platform/passphrase-seal.ts';
import { issue } from '../certificates/issuing.ts';
import { forge, PASSPHRASE, restore, saveBackup } from '../helpers/backup-file.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { startTestServer } from '../helpers/test-server.ts';

const server = sharedServer();

/** Data directories of two servers that were stopped. */
const [old, next] = [temporaryDirectory(), temporaryDirectory()] as const;
let key: string;

beforeAll(async () => {
  await (await startTestServer({ dataDir: old })).stop();
  writeFileSync(join(old, 'config.json'), '{ "scan_seconds": 5 }');
  const source = await startTestServer({ dataDir: next });
  ({ license_key: key } = await newLicense(source));
  await source.stop();
  writeFileSync(join(next, 'config.json'), '{ "scan_seconds": 7 }');
});

/** Starts a server there for the time of the test. */
async function serveAt(dataDir: string) {
  const started = await startTestServer({ dataDir });
  onTestFinished(() => started.stop());
  return started;
}

describe('a restore', () => {
  it('brings back licenses, keys and settings on another machine', async () => {
    writeFileSync(join(server.dataDir, 'config.json'), '{ "scan_seconds": 77 }');
    const license = await newLicense(server, { holder: 'Ústav' });
    const file = join(await keptDataDir(), 'backup.tar');
    await saveBackup(server, file, PASSPHRASE);
    const dataDir = await keptDataDir();
    const restored = await restore(file, dataDir, { passphrase: PASSPHRASE });
    expect(restored).toMatchObject({ before: null, preview: { version: '0.1.0', authenticated: true } });
    expect(readdirSync(dataDir).toSorted()).toEqual([
      'config.json',
      'last-restore.json',
      'license-desk.db',
      'logs',
      'master.key',
      'server.lock',
    ]);
    expect(readFileSync(join(dataDir, 'logs', 'security.1.log'), 'utf8')).toContain('"backup.restored"');

    const again = await serveAt(dataDir);
    expect((await again.admin.showLicense({ ref: license.license_key })).license.holder).toBe('Ústav');
    expect((await again.get('/public-key/')).body).toEqual((await server.get('/public-key/')).body);
    expect((await again.admin.showSettings({})).settings).toContainEqual(
      expect.objectContaining({ name: 'scan_seconds', value: '77', source: 'file' }) as object,
    );
    const { items } = await again.admin.listAudit({ subject: 'backup' });
    expect(items.map(({ action, actor_name }) => [action, actor_name])).toContainEqual([
      'backup.restored',
      'tester',
    ]);
  });

  it('gives out no id and no list number again that was given out after the backup', async () => {
    const dataDir = await keptDataDir();
    const first = await startTestServer({ dataDir });
    const { license_id } = await newLicense(first);
    const issueAndRevoke = async () => {
      const { certificate } = await issue(first, { license_id });
      await first.admin.revokeCertificate({ id: certificate.id });
    };
    await issueAndRevoke();
    const file = join(await keptDataDir(), 'backup.tar');
    await saveBackup(first, file);
    await issueAndRevoke();
    const later = await newLicense(first);
    const { crl_number: number } = (await first.get('/certs/crl/')).body as { crl_number: number };
    await first.stop();

    await restore(file, dataDir);
    const again = await serveAt(dataDir);
    expect((await newLicense(again)).license_id).toBeGreaterThan(later.license_id);
    const list = (await again.get('/certs/crl/')).body as { crl_number: number; revoked: object[] };
    expect(list.crl_number).toBeGreaterThan(number);
    expect(list.revoked).toHaveLength(2);
  });

  it('keeps what was there before, to the byte', async () => {
    const dataDir = await keptDataDir();
    cpSync(old, dataDir, { recursive: true });
    const before = snapshotOf(dataDir);
    const file = join(await keptDataDir(), 'backup.tar');
    await saveBackup(server, file, PASSPHRASE);

    const restored = await restore(file, dataDir, { passphrase: PASSPHRASE });
    expect(restored.before).toMatch(/^before-restore-\d{8}T\d{6}Z$/u);
    const names = ['config.json', 'license-desk.db', 'master.key'];
    const kept = snapshotOf(join(dataDir, restored.before ?? ''));
    expect(kept).toEqual(Object.fromEntries(names.map((name) => [name, before[name]])));
    const now = snapshotOf(dataDir);
    for (const name of names) expect(now[name]).not.toBe(before[name]);
  });

  it('takes a gzipped backup, and a master key from the environment', async () => {
    const folder = await keptDataDir();
    const file = join(folder, 'backup.tar');
    const bytes = await saveBackup(server, file);
    writeFileSync(`${file}.gz`, gzipSync(bytes));
    const masterKey = readFileSync(join(server.dataDir, 'master.key'), 'utf8').trim();
    const dataDir = await keptDataDir();
    await restore(`${file}.gz`, dataDir, { masterKey });
    expect(readdirSync(dataDir)).not.toContain('master.key');
  });

  it('takes a backup of an earlier version, which sealed the master key only, as an unsigned one', async () => {
    const folder = await keptDataDir();
    const file = join(folder, 'backup.tar');
    const masterKey = Buffer.from(readFileSync(join(server.dataDir, 'master.key'), 'utf8'), 'base64');
    const sealed = await sealUnderPassphrase('backup-master-key', masterKey, PASSPHRASE);
    const archive = await forge(await saveBackup(server, file), (files) => {
      files['master-key.json'] = Buffer.from(sealed);
    });
    writeFileSync(file, archive);
    const dataDir = await keptDataDir();
    const options = { passphrase: PASSPHRASE };
    await expect(restore(file, dataDir, options)).rejects.toThrow(/is not authenticated/u);
    const unsigned = { ...options, acceptUnsigned: true };
    await expect(restore(file, dataDir, { ...unsigned, passphrase: 'another passphrase' })).rejects.toThrow(
      /wrong passphrase/u,
    );
    expect((await restore(file, dataDir, unsigned)).preview.authenticated).toBe(false);
    expect(readFileSync(join(dataDir, 'master.key'), 'utf8')).toBe(`${masterKey.toString('base64')}\n`);
    expect(readdirSync(dataDir)).not.toContain('master-key.json');
  });

  it.each([
    ['another cost, with which the passphrase is wrong', { n: 4096 }, /wrong passphrase/u],
    [
      'a cost that needs more than 1 GiB of memory',
      { n: 2 ** 24 },
      /sealed in a format that this version cannot read/u,
    ],
    ['a cost that is not a power of two', { n: 5000 }, /sealed in a format that this version cannot read/u],
    ['half a block', { r: 1.5 }, /sealed in a format that this version cannot read/u],
  ])('derives the key of such a backup with what it says: %s', async (_what, change, refusal) => {
    const file = join(await keptDataDir(), 'backup.tar');
    const sealed = await sealUnderPassphrase('backup-master-key', randomBytes(32), PASSPHRASE);
    const altered = { ...(JSON.parse(sealed) as object), ...change };
    const archive = await forge(await saveBackup(server, file), (files) => {
      files['master-key.json'] = Buffer.from(JSON.stringify(altered));
    });
    writeFileSync(file, archive);
    const options = { passphrase: PASSPHRASE, acceptUnsigned: true };
    await expect(restore(file, await keptDataDir(), options)).rejects.toThrow(refusal);
  });

  it('refuses while a server runs there', async () => {
    const file = join(await keptDataDir(), 'backup.tar');
    await saveBackup(server, file);
    await expect(restore(file, server.dataDir)).rejects.toThrow(/is in use by a server/u);
  });
});

describe('an interrupted restore', () => {
  const BEFORE = 'before-restore-20260101T000000Z';
  const NAMES = ['config.json', 'master.key', 'license-desk.db'];

  /** As a restore leaves it at the moment from which there is no way back. */
  async function committed() {
    const dataDir = await keptDataDir();
    cpSync(old, dataDir, { recursive: true });
    const ready = join(dataDir, 'restore-ready');
    mkdirSync(ready);
    for (const name of NAMES) copyFileSync(join(next, name), join(ready, name));
    writeFileSync(join(ready, 'plan.json'), JSON.stringify({ names: NAMES, before: BEFORE }));
    return { dataDir, ready, kept: join(dataDir, BEFORE) };
  }

  it.each([0, 1, 2, 3])('is completed by the next start, with %i files in place', async (inPlace) => {
    const { dataDir, ready, kept } = await committed();
    mkdirSync(kept);
    for (const [index, name] of NAMES.entries()) {
      if (index > inPlace) continue;
      // Of the one that it came to last, the old one is out of the way and the new one not there yet.
      renameSync(join(dataDir, name), join(kept, name));
      if (index < inPlace) renameSync(join(ready, name), join(dataDir, name));
    }
    await expect(startTestServer({ dataDir })).rejects.toThrow(
      /a confirmed or interrupted restore has been completed.*start again/u,
    );
    const [now, wanted] = [snapshotOf(dataDir), snapshotOf(next)];
    for (const name of NAMES) expect(now[name]).toBe(wanted[name]);
    expect(readFileSync(join(kept, 'config.json'), 'utf8')).toBe(
      readFileSync(join(old, 'config.json'), 'utf8'),
    );
    expect(readdirSync(kept).toSorted()).toEqual(NAMES.toSorted());
    expect(readdirSync(dataDir).filter((name) => name.startsWith('restore'))).toEqual([]);
  });

  it('is served from then on', async () => {
    const { dataDir } = await committed();
    await expect(startTestServer({ dataDir })).rejects.toThrow('start again');
    const again = await serveAt(dataDir);
    expect((await again.admin.showLicense({ ref: key })).license.license_key).toBe(key);
  });

  it('is completed by the next start although the settings from before cannot be used', async () => {
    const { dataDir } = await committed();
    writeFileSync(join(dataDir, 'config.json'), '{ "webhook_ca": "/nowhere.pem" }');
    await expect(startTestServer({ dataDir })).rejects.toThrow('start again');
    const again = await serveAt(dataDir);
    expect((await again.admin.showLicense({ ref: key })).license.license_key).toBe(key);
  });

  it('that was not committed leaves everything as it was', async () => {
    const dataDir = await keptDataDir();
    mkdirSync(join(dataDir, 'restore-staging'));
    writeFileSync(join(dataDir, 'restore-staging', 'license-desk.db'), 'half of it');
    writeFileSync(join(dataDir, 'backup-copy.db'), 'half of it');
    const started = await serveAt(dataDir);
    expect((await started.get('/health/')).status).toBe(200);
    expect(readdirSync(dataDir)).not.toContain('restore-staging');
    expect(readdirSync(dataDir)).not.toContain('backup-copy.db');
  });
});
