// Locks a data directory for one server or command, or explains why that fails.
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type DirectoryLock, lockDirectory, lockFile } from '#server/database/directory-lock.ts';
import { nearestPath } from '#server/platform/nearest-path.ts';
import { provideHomeDirectory, userNameOf } from '#server/platform/os-user.ts';
import { systemMessageOf } from '#server/platform/system-error.ts';
import { closeUmask } from '#server/platform/umask.ts';
import { problemOfPlace } from './directory-path.ts';
import { quoted } from './open-command.ts';
import { readRuntimeFile, removeRuntimeFile } from './runtime-file.ts';
import { OperatorError } from '#server/platform/operator-error.ts';

const RETRY_MS = 100;

/** The data directory cannot be used. The message gives the reason and the remedy. */
export class DataDirectoryError extends OperatorError {
  override readonly name = 'DataDirectoryError';
  override readonly code = 'unavailable';
  override readonly refusal = 'data_directory';
}

const SETGID = 0o2000;

/** A directory created with `mkdir` is readable by others. While it is empty, that has exposed nothing. */
function closeEmptyDirectory(dataDir: string): void {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (!stats?.isDirectory() || process.platform === 'win32' || stats.uid !== process.getuid?.()) return;
  const isShared = (stats.mode & SETGID) !== 0;
  if (!isShared && (stats.mode & 0o077) !== 0 && readdirSync(dataDir).length === 0) chmodSync(dataDir, 0o700);
}

/**
 * Whether root would write into the installation of another user, who could not open such files. It belongs to the user
 * who used it first: in a container, that may be root on a volume of another user.
 * @returns the error to throw before anything is written; null if it may be used
 */
export function problemOfOwner(dataDir: string): DataDirectoryError | null {
  if (process.geteuid?.() !== 0) return null;
  const first = [lockFile(dataDir), dataDir].find((path) => existsSync(path));
  const uid = first === undefined ? 0 : statSync(first).uid;
  if (uid === 0) return null;
  const name = userNameOf(uid);
  return new DataDirectoryError(
    `the data directory ${dataDir} belongs to ${name ?? `the user #${uid}`}, whose server could not open files that root writes; ` +
      `run the command as that user: sudo -u ${name ?? `'#${uid}'`} license-desk --data-dir ${quoted(dataDir)} …`,
  );
}

/**
 * Creates the directory, readable by its owner only, unless it exists.
 * @param options `mayBeNew`: also below the directory of an installation
 * @throws DataDirectoryError
 */
export function prepareDataDirectory(dataDir: string, { mayBeNew = false } = {}): void {
  const foreign = problemOfOwner(dataDir);
  if (foreign) throw foreign;
  const misplaced = problemOfPlace(dataDir, { mayBeNew });
  if (misplaced !== null) throw new DataDirectoryError(misplaced);
  closeUmask();
  provideHomeDirectory(dataDir);
  try {
    // Otherwise Node names a missing directory as the reason where the file system is read-only.
    if (!existsSync(dataDir)) accessSync(nearestPath(dataDir), constants.W_OK);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    closeEmptyDirectory(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new DataDirectoryError(
      `the data directory ${dataDir} cannot be used: ${systemMessageOf(error as Error)}`,
    );
  }
}

function inUseBy(dataDir: string, remedy: string): DataDirectoryError {
  const holder = readRuntimeFile(dataDir);
  const who = holder ? `a server (process ${holder.pid}, ${holder.api})` : 'another License Desk process';
  return new DataDirectoryError(`the data directory ${dataDir} is in use by ${who}${remedy}`);
}

/** Another process uses the directory. */
export function inUse(dataDir: string): DataDirectoryError {
  return inUseBy(dataDir, '; stop it or choose another --data-dir');
}

/** A server uses the directory that was suspended, or hangs. */
export function notAnswering(dataDir: string): DataDirectoryError {
  return inUseBy(dataDir, ', which does not answer; end that process, and start the server again');
}

/** The server of the directory is gone, and a call of it has no answer. */
export function endedMeanwhile(dataDir: string): DataDirectoryError {
  return new DataDirectoryError(
    `the server on ${dataDir} ended before it answered; check whether the change was made, and run the command again if not`,
  );
}

/**
 * Requires `prepareDataDirectory`. Removes what a killed server has left in the runtime file: another program may listen
 * on its port by now, and those who find the directory locked would take that for the server.
 * @returns null if another process uses the directory
 */
export async function lockDataDirectory(dataDir: string): Promise<DirectoryLock | null> {
  const lock = await lockDirectory(dataDir);
  try {
    if (lock) removeRuntimeFile(dataDir);
  } catch (error) {
    await lock?.release();
    throw error;
  }
  return lock;
}

/**
 * Requires `prepareDataDirectory`.
 * @param waitMs how long to wait for a command that is using the directory
 * @throws DataDirectoryError if it is still in use after that; the reason of `giveUp` if that comes first
 */
export async function takeDataDirectory(
  dataDir: string,
  waitMs: number,
  giveUp?: AbortSignal,
): Promise<DirectoryLock> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    giveUp?.throwIfAborted();
    const lock = await lockDataDirectory(dataDir);
    if (lock) return lock;
    if (performance.now() > deadline) throw inUse(dataDir);
    await delay(RETRY_MS);
  }
}
