// Backups that somebody altered or made up: each is refused, at no cost worth mentioning, and nothing changes.
import { execFileSync } from 'node:child_process';
import { cpSync, createWriteStream, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  entriesOf,
  forge,
  manifestOf,
  openBackup,
  PASSPHRASE,
  type RestoreOptions,
  saveBackup,
  tarOf,
} from '../helpers/backup-file.ts';
import { decryptBackup } from '../helpers/decrypt-backup.ts';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';
import { startTestServer } from '../helpers/test-server.ts';

const HEADER = 64;
const CHUNK = 65_536 + 16;

const server = sharedServer();
const folder = temporaryDirectory();
const file = join(folder, 'backup');
const dataDir = temporaryDirectory();
let before: Record<string, string>;
let encrypted: Buffer;
let plain: Buffer;
let described: object;

const disk = mountSmallDisk(96);
if (typeof disk === 'string') process.stderr.write(`hostile-backups.test.ts skips one test: ${disk}\n`);

beforeAll(async () => {
  await (await startTestServer({ dataDir })).stop();
  before = snapshotOf(dataDir);
  encrypted = await saveBackup(server, file, PASSPHRASE);
  plain = await saveBackup(server, file);
  described = JSON.parse(String(entriesOf(plain).get('manifest.json'))) as object;
});

/** @returns the message */
async function refusal(archive: Buffer, options: RestoreOptions = {}): Promise<string> {
  writeFileSync(file, archive);
  const failure: unknown = await openBackup(file, dataDir, options).then(
    (opened) => opened.close(),
    (error: unknown) => error,
  );
  expect(snapshotOf(dataDir)).toEqual(before);
  expect(readdirSync(dataDir)).not.toContain('restore-staging');
  return failure instanceof Error ? failure.message : 'not refused';
}

function altered(change: (bytes: Buffer) => Buffer | void): Buffer {
  const bytes = Buffer.from(encrypted);
  return change(bytes) ?? bytes;
}

const flipped = (offset: number) =>
  altered((bytes) => void bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset));

describe('an encrypted backup', () => {
  const options = { passphrase: PASSPHRASE };
  const AUTHENTICATION = /cannot be decrypted: the passphrase is wrong|was altered or truncated/u;

  it('has several chunks, so that the tests below mean something', () => {
    expect(encrypted.length).toBeGreaterThan(HEADER + 3 * CHUNK);
    expect(decryptBackup(encrypted, PASSPHRASE).includes('SQLite format 3')).toBe(true);
  });

  it.each([
    ['a changed salt', () => flipped(30)],
    ['a changed nonce prefix', () => flipped(60)],
    ['cheaper scrypt parameters', () => flipped(20)],
    ['a changed first chunk', () => flipped(HEADER + 100)],
    ['a changed later chunk', () => flipped(HEADER + CHUNK + 100)],
    ['a changed tag at the end', () => flipped(encrypted.length - 1)],
    ['a missing end', () => encrypted.subarray(0, -1)],
    ['a missing last chunk', () => encrypted.subarray(0, HEADER + 2 * CHUNK)],
    ['something after its end', () => Buffer.concat([encrypted, Buffer.alloc(CHUNK)])],
    [
      'two chunks swapped',
      () =>
        Buffer.concat([
          encrypted.subarray(0, HEADER + CHUNK),
          encrypted.subarray(HEADER + 2 * CHUNK, HEADER + 3 * CHUNK),
          encrypted.subarray(HEADER + CHUNK, HEADER + 2 * CHUNK),
          encrypted.subarray(HEADER + 3 * CHUNK),
        ]),
    ],
    ['nothing but its header', () => encrypted.subarray(0, HEADER)],
  ])('with %s is refused', async (_what, archive) => {
    expect(await refusal(archive(), options)).toMatch(AUTHENTICATION);
  });

  it('must not demand more than 1 GiB of memory, or an unknown format', async () => {
    // As the product makes them outside the tests.
    const [AT_LOG_N, LOG_N] = [20, 17];
    const withByte = (offset: number, value: number) => {
      const bytes = Buffer.from(encrypted);
      bytes.writeUInt8(LOG_N, AT_LOG_N);
      bytes.writeUInt8(value, offset);
      return bytes;
    };
    const parameters = /scrypt parameters outside the accepted range/u;
    expect(await refusal(withByte(AT_LOG_N, 24), options)).toMatch(parameters);
    expect(await refusal(withByte(AT_LOG_N, 255), options)).toMatch(parameters);
    expect(await refusal(withByte(21, 255), options)).toMatch(parameters);
    expect(await refusal(withByte(22, 5), options)).toMatch(parameters);
    expect(await refusal(withByte(22, 0), options)).toMatch(parameters);
    expect(await refusal(withByte(19, 2), options)).toMatch(/encryption format that this version/u);
    expect(await refusal(encrypted.subarray(0, 40), options)).toMatch(/ends within its header/u);
  });

  it('cannot be replaced by an altered one without encryption', async () => {
    const forged = await forge(decryptBackup(encrypted, PASSPHRASE), (files) => {
      files['config.json'] = Buffer.from('{ "host": "0.0.0.0" }');
    });
    expect(await refusal(forged, { ...options, acceptUnsigned: false })).toMatch(/is not authenticated/u);
  });
});

describe('an archive without encryption', () => {
  const database = () => entriesOf(plain).get('license-desk.db') as Buffer;
  const manifest = (files: Record<string, Buffer>) => manifestOf(described, files);

  it('must not hold a file twice, or one that its manifest does not list', async () => {
    const files = { 'config.json': Buffer.from('{}') };
    const twice = pack();
    twice.entry({ name: 'manifest.json' }, manifest({ ...files, 'license-desk.db': database() }));
    twice.entry({ name: 'config.json' }, '{}');
    twice.entry({ name: 'config.json' }, '{}');
    twice.finalize();
    expect(await refusal(await buffer(twice as AsyncIterable<Buffer>))).toMatch(
      /does not list "config\.json"/u,
    );
    const listedTwice = {
      ...described,
      parts: [1, 2].map(() => ({ name: 'config.json', bytes: 2, sha256: '0'.repeat(64) })),
    };
    expect(await refusal(await tarOf({ 'manifest.json': JSON.stringify(listedTwice) }))).toMatch(
      /manifest that this version/u,
    );
    for (const name of ['../../evil', '/tmp/evil', 'master-key.sealed', 'plan.json']) {
      const archive = await tarOf({
        'manifest.json': manifest({ 'license-desk.db': database() }),
        [name]: 'evil',
      });
      expect(await refusal(archive)).toContain(`does not list ${JSON.stringify(name)}`);
      const listed = manifest({ [name]: Buffer.from('evil') });
      expect(await refusal(await tarOf({ 'manifest.json': listed, [name]: 'evil' }))).toMatch(
        /manifest that this version/u,
      );
    }
  });

  it('must not hold a link', async () => {
    const archive = pack();
    archive.entry({ name: 'manifest.json' }, manifest({ 'license-desk.db': Buffer.alloc(0) }));
    archive.entry({ name: 'license-desk.db', type: 'symlink', linkname: '/etc/passwd' });
    archive.finalize();
    expect(await refusal(await buffer(archive as AsyncIterable<Buffer>))).toMatch(/is not a regular file/u);
  });

  it('stops at the declared size', async () => {
    const files = { 'license-desk.db': Buffer.from('small') };
    const larger = await tarOf({ 'manifest.json': manifest(files), 'license-desk.db': 'not so small' });
    expect(await refusal(larger)).toMatch(/license-desk\.db has 12 bytes instead of 5/u);
    const config = { ...files, 'config.json': Buffer.alloc(1024 * 1024 + 1, ' ') };
    expect(await refusal(await tarOf({ 'manifest.json': manifest(config), ...config }))).toMatch(
      /config\.json of more than 1048576 bytes/u,
    );
  });

  it('does not unpack a gzip bomb', async () => {
    const files = { 'license-desk.db': Buffer.from('small') };
    const archive = await tarOf({ 'manifest.json': manifest(files), ...files });
    // 40 GB of zeros behind the archive, in place of it, and as its first file: to read them would take minutes.
    const zeros = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    const bomb = Array<Buffer>(5000).fill(zeros);
    expect(await refusal(Buffer.concat([gzipSync(archive), ...bomb]))).toMatch(
      /larger than its manifest declares/u,
    );
    expect(await refusal(Buffer.concat(bomb))).toMatch(/is not a License Desk backup/u);
    const header = (await tarOf({ 'manifest.json': '{}' })).subarray(0, 512);
    expect(await refusal(Buffer.concat([gzipSync(header), ...bomb]))).toMatch(/damaged/u);
  });

  it('is refused before it is unpacked where the disk is too small', async () => {
    const parts = [{ name: 'license-desk.db', bytes: 2 ** 50, sha256: '0'.repeat(64) }];
    const archive = await tarOf({ 'manifest.json': JSON.stringify({ ...described, parts }) });
    expect(await refusal(archive)).toMatch(
      /not enough disk space in .*: 1125899973951488 bytes needed, \d+ bytes free$/u,
    );
  });

  it.skipIf(typeof disk === 'string')(
    'leaves everything as it was where the disk fills up midway',
    async () => {
      const small = disk as SmallDisk;
      onTestFinished(small.unmount);
      const cramped = join(small.path, 'data');
      cpSync(dataDir, cramped, { recursive: true });
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const unpacked = join(cramped, 'restore-staging', 'license-desk.db');
      async function* slowly(): AsyncGenerator<Buffer> {
        yield plain.subarray(0, 32_768);
        await expect.poll(() => existsSync(unpacked)).toBe(true);
        small.fill();
        yield plain.subarray(32_768);
      }
      const writing = pipeline(Readable.from(slowly()), createWriteStream(pipe)).catch(() => {});
      await expect(openBackup(pipe, cramped)).rejects.toThrow(/cannot be unpacked: ENOSPC/u);
      await writing;
      expect(snapshotOf(cramped)).toEqual(before);
      expect(readFileSync(join(cramped, 'master.key'))).toEqual(readFileSync(join(dataDir, 'master.key')));
    },
  );
});
