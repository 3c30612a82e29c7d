// One daily backup: writes it to the folder under a temporary name, reads it back, renames it, and removes the oldest
// ones. A process that is killed at any point leaves nothing half: the record says what the next run has to remove.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  BackupFolderError,
  readBackupPassphrase,
  requireBackupFolder,
} from '#server/platform/backup-folder.ts';
import { removeWhenFreeLater, renameWhenFreeLater } from '#server/platform/busy-files.ts';
import { syncDirectory } from '#server/platform/durable-file.ts';
import { systemCodeOf, systemMessageOf } from '#server/platform/system-error.ts';
import { readArchive } from './archive-reader.ts';
import {
  archiveOf,
  type BackedUp,
  backupFileName,
  type CopyDatabase,
  copyForBackup,
  freeBytes,
  NoSpaceError,
} from './backup-archive.ts';
import {
  type FolderRecord,
  mayCreateFolder,
  readFolderRecord,
  type WrittenFile,
  writeFolderRecord,
} from './backup-records.ts';
import type { BackupProblem } from './backup-status-contract.ts';
import { scheduledCopyFile } from './data-files.ts';

/** A backup as a worker thread receives it. */
export interface ScheduledBackup {
  /** The key arrives without the prototype of a buffer. */
  installation: Omit<BackedUp, 'masterKey'> & { masterKey: Uint8Array };
  folder: string;
  keep: number;
  passphraseFile: string | null;
}

export interface FolderBackup extends ScheduledBackup {
  installation: BackedUp;
  copyDatabase: CopyDatabase;
  /** Epoch milliseconds. */
  now(): number;
  signal: AbortSignal;
}

export type FolderBackupResult =
  | { outcome: 'done'; file: WrittenFile; removed: number }
  | { outcome: 'failed'; problem: BackupProblem; message: string }
  /** The server stops. The next start makes up for it. */
  | { outcome: 'cancelled' };

/** More than anyone keeps; of folders that are no longer used, the record forgets the oldest files. */
const MAX_REMEMBERED = 5000;

/** The folder has no room for the backup. */
class FolderFullError extends Error {
  override readonly name = 'FolderFullError';
}

/** The file is not the backup that was written. */
class NotVerifiedError extends Error {
  override readonly name = 'NotVerifiedError';
}

/** Network drives may refuse it; the rename has happened nevertheless. */
function trySyncDirectory(folder: string): void {
  try {
    syncDirectory(folder);
  } catch {
    // There is nothing more to do.
  }
}

const sizeOf = async (path: string): Promise<number | null> =>
  stat(path).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  );

/** What cannot be removed is tried again by each run, so that an unused folder does not stop backups. */
async function removeUnfinished(record: FolderRecord): Promise<void> {
  const drafts = [...record.leftovers, ...(record.writing ? [record.writing.draft] : [])];
  record.leftovers = [];
  for (const draft of drafts.slice(-MAX_REMEMBERED)) {
    await removeWhenFreeLater(draft).catch(() => {});
    if (existsSync(draft) || !existsSync(dirname(draft))) record.leftovers.push(draft);
  }
}

/** Completes or undoes what a killed process was writing. */
async function settle(record: FolderRecord): Promise<void> {
  await removeUnfinished(record);
  const { writing } = record;
  if (writing === null) return;
  // It was verified before it got this name.
  if ((await sizeOf(writing.file.path)) === writing.file.bytes) {
    record.files.push(writing.file);
    record.succeeded = { ...writing.file, ms: 0 };
  }
  record.writing = null;
}

/** Where the folder is gone, the next run removes the draft. */
async function discardDraft(record: FolderRecord): Promise<void> {
  const draft = record.writing?.draft;
  if (draft === undefined || !existsSync(dirname(draft))) return;
  await removeWhenFreeLater(draft).catch(() => {});
  if (!existsSync(draft)) record.writing = null;
}

/** @throws NoSpaceError or another error of the data directory */
function remember(dataDir: string, record: FolderRecord): void {
  try {
    writeFolderRecord(dataDir, record);
  } catch (error) {
    throw new NoSpaceError(`cannot write to the data directory: ${systemMessageOf(error as Error)}`);
  }
}

/** A name that no file has. Another installation may use the same folder. */
function freeName(folder: string, name: string): string {
  const dot = name.lastIndexOf('.');
  for (let count = 1; ; count += 1) {
    const path = join(folder, count === 1 ? name : `${name.slice(0, dot)}-${count}${name.slice(dot)}`);
    if (!existsSync(path)) return path;
  }
}

async function writeDraft(
  draft: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const file = await open(draft, 'wx', 0o600);
  try {
    for await (const chunk of content) {
      signal.throwIfAborted();
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Reads it from its first byte to its last. @throws NotVerifiedError */
async function verify(draft: string, passphrase: string | null): Promise<void> {
  await readArchive(draft, { passphrase, directory: null }).catch((error: Error) => {
    throw new NotVerifiedError(`the backup could not be read back: it ${error.message}`);
  });
}

/** @returns whether it could */
const tryRemove = (path: string): Promise<boolean> =>
  rm(path).then(
    () => true,
    () => false,
  );

/**
 * Removes the oldest backups in the folder. Only files that are recorded, and still what was written, are removed.
 * @returns how many
 */
async function keepNewest(record: FolderRecord, { folder, keep }: FolderBackup): Promise<number> {
  const here = record.files.filter(({ path }) => dirname(path) === folder);
  let removed = 0;
  for (const file of here.slice(0, -keep)) {
    const size = await sizeOf(file.path);
    if (size === file.bytes) {
      // One that cannot be removed now is tried again after the next backup.
      if (!(await tryRemove(file.path))) continue;
      removed += 1;
    }
    // A file of another size is not the one that was written here.
    record.files = record.files.filter((other) => other !== file);
  }
  record.files = record.files.slice(-MAX_REMEMBERED);
  return removed;
}

async function write(
  backup: FolderBackup,
  record: FolderRecord,
  startedAt: number,
): Promise<FolderBackupResult> {
  const { installation, folder, passphraseFile, copyDatabase, signal } = backup;
  const { dataDir } = installation;
  const passphrase = await readBackupPassphrase(passphraseFile);
  await requireBackupFolder(folder, mayCreateFolder(record, folder));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await settle(record);
  const copy = scheduledCopyFile(dataDir);
  try {
    await copyForBackup(installation, copyDatabase, copy, signal);
    const { content, size } = await archiveOf(installation, { copy, passphrase, now: startedAt });
    const free = await freeBytes(folder);
    if (free < size)
      throw new FolderFullError(
        `not enough disk space in ${folder}: ${size} bytes needed, ${free} bytes free`,
      );
    const encrypted = passphrase !== null;
    const path = freeName(folder, backupFileName(startedAt, encrypted));
    const file: WrittenFile = { path, at: startedAt, bytes: size, encrypted };
    const draft = join(folder, `.license-desk-${randomUUID()}.part`);
    record.writing = { draft, file };
    remember(dataDir, record);
    await writeDraft(draft, content, signal);
    await verify(draft, passphrase);
    signal.throwIfAborted();
    await renameWhenFreeLater(draft, path);
    trySyncDirectory(folder);
    record.writing = null;
    record.files.push(file);
    record.succeeded = { ...file, ms: Math.max(0, backup.now() - startedAt) };
    record.failed = null;
    remember(dataDir, record);
    const removed = await keepNewest(record, backup);
    remember(dataDir, record);
    return { outcome: 'done', file, removed };
  } finally {
    await removeWhenFreeLater(copy);
  }
}

function explain(error: unknown, { folder }: FolderBackup): { problem: BackupProblem; message: string } {
  const message = systemMessageOf(error as Error);
  if (error instanceof BackupFolderError) return { problem: error.problem, message };
  if (error instanceof NoSpaceError) return { problem: 'data_directory_full', message };
  if (error instanceof NotVerifiedError) return { problem: 'not_verified', message };
  if (error instanceof FolderFullError) return { problem: 'folder_full', message };
  const text = `cannot write to the backup folder ${folder}: ${message}`;
  switch (systemCodeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return { problem: 'folder_full', message: text };
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return { problem: 'folder_not_writable', message: text };
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EIO':
    case 'ESTALE':
      return { problem: 'folder_missing', message: text };
    default:
      return { problem: 'other', message };
  }
}

/** Never throws: what went wrong is in the result, and in the record if the data directory can be written. */
export async function backUpToFolder(backup: FolderBackup): Promise<FolderBackupResult> {
  const { dataDir } = backup.installation;
  const startedAt = backup.now();
  const record = readFolderRecord(dataDir);
  try {
    return await write(backup, record, startedAt);
  } catch (error) {
    await discardDraft(record);
    const isCancelled = backup.signal.aborted;
    const failure = explain(error, backup);
    if (!isCancelled)
      record.failed = { at: startedAt, attempts: (record.failed?.attempts ?? 0) + 1, ...failure };
    try {
      writeFolderRecord(dataDir, record);
    } catch {
      // The data directory is full or gone, which has its own alert. The caller remembers the failure.
    }
    return isCancelled ? { outcome: 'cancelled' } : { outcome: 'failed', ...failure };
  }
}
