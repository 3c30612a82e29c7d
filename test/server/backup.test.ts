// Backups of a running server: what is in them, and what is not.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  entriesOf,
  manifestOf,
  PASSPHRASE,
  requestBackup,
  restore,
  saveBackup,
} from '../helpers/backup-file.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { decryptBackup } from '../helpers/decrypt-backup.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

const server = sharedServer();
const disk = mountSmallDisk(16);
if (typeof disk === 'string') process.stderr.write(`backup.test.ts skips one test: ${disk}\n`);

function containsMasterKey(bytes: Buffer): boolean {
  const text = readFileSync(join(server.dataDir, 'master.key'), 'utf8').trim();
  return bytes.includes(text) || bytes.includes(Buffer.from(text, 'base64'));
}

describe('a backup', () => {
  /** Asks for one, and checks what the reply says about it. */
  async function download(passphrase: string | undefined, type: string, extension: string) {
    const response = await requestBackup(server, passphrase === undefined ? {} : { passphrase });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': type,
      'cache-control': 'no-store',
      'content-disposition': expect.stringMatching(
        new RegExp(`^attachment; filename="license-desk-\\d{8}T\\d{6}Z\\.${extension}"$`, 'u'),
      ) as string,
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes).toHaveLength(Number(response.headers.get('content-length')));
    expect(readdirSync(server.dataDir)).not.toContain('backup-copy.db');
    return bytes;
  }

  function checkedParts(archive: Buffer): Record<string, Buffer> {
    const { 'manifest.json': manifest = Buffer.alloc(0), ...parts } = Object.fromEntries(entriesOf(archive));
    const described = JSON.parse(manifest.toString()) as { parts: object[] };
    expect(described).toMatchObject({ format: 'license-desk-backup', format_version: 1, version: '0.1.0' });
    expect(described).toEqual(JSON.parse(manifestOf(described, parts)));
    return parts;
  }

  it('without a passphrase is a tar archive with a manifest, and lacks the master key', async () => {
    writeFileSync(join(server.dataDir, 'config.json'), '{ "scan_seconds": 77 }');
    const bytes = await download(undefined, 'application/x-tar', 'tar');
    const parts = checkedParts(bytes);
    expect(Object.keys(parts)).toEqual(['config.json', 'license-desk.db']);
    expect(parts['config.json']?.toString()).toBe('{ "scan_seconds": 77 }');
    expect(containsMasterKey(bytes)).toBe(false);
  });

  it('without a passphrase lacks the database settings, which may contain a password', async () => {
    const file = join(server.dataDir, 'config.json');
    const settings = { database_url: 'postgres://desk:S3CRET@db/desk', scan_seconds: 77 };
    writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
    const bytes = await download(undefined, 'application/x-tar', 'tar');
    expect(bytes.includes('S3CRET')).toBe(false);
    expect(JSON.parse(checkedParts(bytes)['config.json']!.toString())).toEqual({ scan_seconds: 77 });
    const sealed = await download(PASSPHRASE, 'application/octet-stream', 'ldbackup');
    const parts = checkedParts(decryptBackup(sealed, PASSPHRASE));
    expect(JSON.parse(parts['config.json']!.toString())).toEqual(settings);

    writeFileSync(file, '{ "database_url": "postgres://desk:S3CRET@db/desk", }');
    const spoiled = await download(undefined, 'application/x-tar', 'tar');
    expect(Object.keys(checkedParts(spoiled))).toEqual(['license-desk.db']);
    writeFileSync(file, '{}');
  });

  it('with a passphrase can be decrypted with the passphrase and the documentation', async () => {
    writeFileSync(join(server.dataDir, 'config.json'), '{ "scan_seconds": 78 }');
    const bytes = await download(PASSPHRASE, 'application/octet-stream', 'ldbackup');
    expect(bytes.includes('scan_seconds')).toBe(false);
    expect(bytes.includes('SQLite')).toBe(false);
    expect(containsMasterKey(bytes)).toBe(false);

    const parts = checkedParts(decryptBackup(bytes, PASSPHRASE));
    expect(Object.keys(parts)).toEqual(['config.json', 'master.key', 'license-desk.db']);
    expect(parts['config.json']?.toString()).toBe('{ "scan_seconds": 78 }');
    expect(parts['master.key']).toEqual(readFileSync(join(server.dataDir, 'master.key')));
    expect(parts['license-desk.db']?.toString('latin1', 0, 15)).toBe('SQLite format 3');
    expect(() => decryptBackup(bytes, 'another passphrase')).toThrow();
  });

  it('has no private keys that wait for their download', async () => {
    const { license_id } = await newLicense(server);
    await server.admin.generateCertificate({ license_id, common_name: 'waiting' });
    const sealed = async (table: string) =>
      (await selectRows(server.dataDir, `SELECT private_key_sealed AS text FROM ${table}`)) as {
        text: string;
      }[];
    const bytes = await saveBackup(server, join(await keptDataDir(), 'backup.tar'));
    const [waiting] = await sealed('certificate_keys');
    expect(bytes.includes(waiting?.text ?? 'missing')).toBe(false);
    // Other sealed keys are found in this way.
    const [signing] = await sealed('signing_keys');
    expect(bytes.includes(signing?.text ?? 'missing')).toBe(true);
  });

  it('is from one point in time while others keep writing', async () => {
    const file = join(await keptDataDir(), 'backup.tar');
    const isDone = new AbortController();
    const writing = (async () => {
      let count = 0;
      for (; !isDone.signal.aborted; count += 1) await newLicense(server);
      return count;
    })();
    await saveBackup(server, file, PASSPHRASE);
    isDone.abort();
    expect(await writing).toBeGreaterThan(0);
    const dataDir = await keptDataDir();
    const { preview } = await restore(file, dataDir, { passphrase: PASSPHRASE });
    // Each license comes with its entry in the audit log, or not at all.
    const [audited] = (await selectRows(
      dataDir,
      `SELECT count(*) AS count FROM audit_entries WHERE action = 'license.created'`,
    )) as { count: number }[];
    expect(audited?.count).toBe(preview.counts.licenses);
  });

  it('is made one at a time, and again after the last download is aborted', async () => {
    const replies = await Promise.all([requestBackup(server), requestBackup(server)]);
    const made = replies.find(({ status }) => status === 200);
    const refused = replies.find(({ status }) => status !== 200);
    expectFailure({ status: refused?.status ?? 0, body: await refused?.json() }, 'unavailable');
    await made?.arrayBuffer();
    expect((await (await requestBackup(server)).arrayBuffer()).byteLength).toBeGreaterThan(0);

    const giveUp = new AbortController();
    await requestBackup(server, {}, giveUp.signal);
    giveUp.abort();
    await expect.poll(async () => (await requestBackup(server)).status).toBe(200);
    await expect.poll(() => existsSync(join(server.dataDir, 'backup-copy.db'))).toBe(false);
  });

  it('requires a passphrase of at least 12 characters', async () => {
    const response = await requestBackup(server, { passphrase: 'short' });
    expectFailure({ status: response.status, body: await response.json() }, 'invalid_request');
  });

  it.skipIf(typeof disk === 'string')('is refused where the disk has no space for it', async () => {
    const { path, unmount } = disk as SmallDisk;
    onTestFinished(unmount);
    const cramped = await startTestServer({ dataDir: join(path, 'data') });
    onTestFinished(() => cramped.stop());
    const response = await requestBackup(cramped);
    const body = (await response.json()) as { message: string };
    expectFailure({ status: response.status, body }, 'unavailable');
    expect(body.message).toMatch(
      /^not enough disk space to copy the database: \d+ bytes needed, \d+ bytes free$/u,
    );
    expect(readdirSync(cramped.dataDir)).not.toContain('backup-copy.db');
    await newLicense(cramped);
  });
});
