// Backups as tests make, open, forge and damage them.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import { openRestore } from '#server/wiring/compose-restore.ts';
import { loadConfig } from '#server/platform/config.ts';
import type { TestServer } from './test-server.ts';

const TAR_BLOCK = 512;

export const PASSPHRASE = 'Příliš žluťoučký kůň';

export interface RestoreOptions {
  passphrase?: string;
  masterKey?: string;
  /** Where there is no passphrase, this is the default. */
  acceptUnsigned?: boolean;
}

/** As the command does it, but in this process, and without committing it. */
export function openBackup(file: string, dataDir: string, options: RestoreOptions = {}) {
  const { passphrase = null, masterKey, acceptUnsigned = passphrase === null } = options;
  const env = masterKey === undefined ? {} : { LICENSE_DESK_MASTER_KEY: masterKey };
  const config = loadConfig({ flags: { 'data-dir': dataDir }, env });
  return openRestore(config, { file, passphrase, acceptUnsigned }, 'tester');
}

/** As the command does it with `--yes`, but in this process. */
export async function restore(file: string, dataDir: string, options: RestoreOptions = {}) {
  const opened = await openBackup(file, dataDir, options);
  try {
    return { preview: opened.preview, ...(await opened.commit()) };
  } finally {
    await opened.close();
  }
}

/** A backup without encryption that holds these files, whatever its manifest says of them. */
export async function tarOf(files: Readonly<Record<string, Buffer | string>>): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content);
  archive.finalize();
  return buffer(archive as AsyncIterable<Buffer>);
}

/** The manifest that belongs to these files. */
export function manifestOf(manifest: object, files: Readonly<Record<string, Buffer>>): string {
  const parts = Object.entries(files).map(([name, content]) => ({
    name,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  return JSON.stringify({ ...manifest, parts });
}

/** An altered copy of a backup that nobody encrypted, with a manifest that fits it. */
export async function forge(
  archive: Buffer,
  change: (files: Record<string, Buffer>) => void,
): Promise<Buffer> {
  const { 'manifest.json': manifest = Buffer.alloc(0), ...files } = Object.fromEntries(entriesOf(archive));
  change(files);
  const described = JSON.parse(manifest.toString()) as object;
  return tarOf({ 'manifest.json': manifestOf(described, files), ...files });
}

/** The reply of the endpoint, whose body nobody has read yet. */
export function requestBackup(
  { adminOrigin, runtimeSecret }: Pick<TestServer, 'adminOrigin' | 'runtimeSecret'>,
  input: { passphrase?: string } = {},
  signal?: AbortSignal,
): Promise<Response> {
  const { path, method } = adminContract.downloadBackup;
  return fetch(adminOrigin + ADMIN_API_ROOT + path, {
    method,
    headers: { authorization: `Bearer ${runtimeSecret}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
    ...(signal ? { signal } : {}),
  });
}

/** Makes a backup in a file. @returns the file's bytes */
export async function saveBackup(
  server: Pick<TestServer, 'adminOrigin' | 'runtimeSecret'>,
  file: string,
  passphrase?: string,
): Promise<Buffer> {
  const response = await requestBackup(server, passphrase === undefined ? {} : { passphrase });
  if (response.status !== 200) throw new Error(await response.text());
  const bytes = Buffer.from(await response.arrayBuffer());
  writeFileSync(file, bytes);
  return bytes;
}

/** Puts a backup where a preview finds it. */
export function uploadBackup(
  { adminOrigin, runtimeSecret }: Pick<TestServer, 'adminOrigin' | 'runtimeSecret'>,
  body: BodyInit,
  signal?: AbortSignal,
): Promise<Response> {
  const { path, method } = adminContract.uploadBackup;
  return fetch(adminOrigin + ADMIN_API_ROOT + path, {
    method,
    headers: { authorization: `Bearer ${runtimeSecret}`, 'content-type': 'application/octet-stream' },
    body,
    duplex: 'half',
    ...(signal ? { signal } : {}),
  } as RequestInit);
}

/** The files of a tar archive, read by the format's own description (POSIX.1-1988, ustar). */
export function entriesOf(archive: Buffer): Map<string, Buffer> {
  const entries = new Map<string, Buffer>();
  for (let at = 0; archive[at] !== 0;) {
    const text = (from: number, length: number) =>
      archive.toString('latin1', at + from, at + from + length).replace(/\0.*$/su, '');
    const size = Number.parseInt(text(124, 12), 8);
    entries.set(text(0, 100), archive.subarray(at + TAR_BLOCK, at + TAR_BLOCK + size));
    at += TAR_BLOCK * (1 + Math.ceil(size / TAR_BLOCK));
  }
  return entries;
}

/** Changes one byte, so many bytes into the entry of that name. */
export function spoil(file: string, name: string, offset: number): void {
  const archive = readFileSync(file);
  const entry = entriesOf(archive).get(name);
  if (!entry) throw new Error(`no ${name} in ${file}`);
  // A view of the same bytes.
  entry.writeUInt8(entry.readUInt8(offset) ^ 1, offset);
  writeFileSync(file, archive);
}
