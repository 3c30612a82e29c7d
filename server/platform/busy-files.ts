// Renames and removes files on Windows, where a virus scanner, an indexer or a program that synchronizes folders may briefly
// have them open, and usually opens what was just written.
import { renameSync, rmSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const ATTEMPTS = 10;
const PAUSE_MS = 100;
/** Error codes on Windows while another program has the file, or a file in the folder, open. */
const BUSY = ['EPERM', 'EACCES', 'EBUSY', 'ENOTEMPTY'];

/** On other platforms, an error is final. */
function isWorthAnother(attempt: number, error: unknown, platform: NodeJS.Platform): boolean {
  const isBusy = BUSY.includes((error as NodeJS.ErrnoException).code ?? '');
  return platform === 'win32' && isBusy && attempt < ATTEMPTS;
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}

/** Blocks for up to a second. @throws the file system's error */
export function whenFree(work: () => void, platform: NodeJS.Platform = process.platform): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      work();
      return;
    } catch (error) {
      if (!isWorthAnother(attempt, error, platform)) throw error;
      pause();
    }
  }
}

/** The same without blocking. @throws the file system's error */
export async function whenFreeLater(
  work: () => Promise<void>,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isWorthAnother(attempt, error, platform)) throw error;
      await delay(PAUSE_MS);
    }
  }
}

export function renameWhenFree(from: string, to: string): void {
  whenFree(() => renameSync(from, to));
}

/** Ignores a missing file. @param recursive also removes a folder and its contents */
export function removeWhenFree(path: string, { recursive = false } = {}): void {
  whenFree(() => rmSync(path, { recursive, force: true }));
}

/** The same without blocking. */
export function renameWhenFreeLater(from: string, to: string): Promise<void> {
  return whenFreeLater(() => rename(from, to));
}

/** The same without blocking, for a file. */
export function removeWhenFreeLater(path: string): Promise<void> {
  return whenFreeLater(() => rm(path, { force: true }));
}
