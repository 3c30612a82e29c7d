// Backups as tests make, open and spoil them.
import { readFileSync, writeFileSync } from 'node:fs';
import { ADMIN_API_ROOT, adminContract } from '../../server/contract.ts';
import { restoreBackup } from '../../server/compose-restore.ts';
import { loadConfig } from '../../server/platform/config.ts';
import type { TestServer } from './test-server.ts';

const TAR_BLOCK = 512;

export const PASSPHRASE = 'Příliš žluťoučký kůň';

export interface RestoreOptions {
  passphrase?: string;
  masterKey?: string;
}

/** As the command does it, but in this process. */
export function restore(file: string, dataDir: string, { passphrase, masterKey }: RestoreOptions = {}) {
  const env = masterKey === undefined ? {} : { LICENSE_DESK_MASTER_KEY: masterKey };
  const config = loadConfig({ flags: { 'data-dir': dataDir }, env });
  return restoreBackup(config, { file, passphrase: passphrase ?? null, userName: 'tester' });
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
