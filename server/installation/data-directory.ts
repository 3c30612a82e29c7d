// Takes a data directory for one server or one command, and says plainly why it cannot.
import { accessSync, chmodSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type DirectoryLock, lockDirectory } from '#server/database/directory-lock.ts';
import { provideHomeDirectory } from '#server/platform/os-user.ts';
import { readRuntimeFile } from './runtime-file.ts';
import { OperatorError } from '#server/platform/operator-error.ts';

const RETRY_MS = 100;

/** The data directory cannot be used; the message says why and what to do. */
export class DataDirectoryError extends OperatorError {
  override readonly name = 'DataDirectoryError';
  override readonly code = 'unavailable';
  override readonly refusal = 'data_directory';
}

const SETGID = 0o2000;

/** A directory made by hand with `mkdir` is open to others; as long as it is empty, nothing was exposed by that. */
function closeEmptyDirectory(dataDir: string): void {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (!stats?.isDirectory() || process.platform === 'win32' || stats.uid !== process.getuid?.()) return;
  const isShared = (stats.mode & SETGID) !== 0;
  if (!isShared && (stats.mode & 0o077) !== 0 && readdirSync(dataDir).length === 0) chmodSync(dataDir, 0o700);
}

/** Makes the directory, readable by its owner only, unless it is there. */
export function prepareDataDirectory(dataDir: string): void {
  // Whatever is written from here on, database and logs included, is nobody else's to read.
  process.umask(0o077);
  provideHomeDirectory(dataDir);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    closeEmptyDirectory(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new DataDirectoryError(`the data directory ${dataDir} cannot be used: ${(error as Error).message}`);
  }
}

/** Somebody else holds the directory. */
export function inUse(dataDir: string): DataDirectoryError {
  const holder = readRuntimeFile(dataDir);
  const who = holder ? `a server (process ${holder.pid}, ${holder.api})` : 'another License Desk process';
  return new DataDirectoryError(
    `the data directory ${dataDir} is in use by ${who}; stop it or choose another --data-dir`,
  );
}

/**
 * For a directory that has been prepared.
 * @param waitMs how long a command that works on the directory just now may take to finish
 * @throws DataDirectoryError if it is still taken after that; the reason of `giveUp` if that comes first
 */
export async function takeDataDirectory(
  dataDir: string,
  waitMs: number,
  giveUp?: AbortSignal,
): Promise<DirectoryLock> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    giveUp?.throwIfAborted();
    const lock = await lockDirectory(dataDir);
    if (lock) return lock;
    if (performance.now() > deadline) throw inUse(dataDir);
    await delay(RETRY_MS);
  }
}
