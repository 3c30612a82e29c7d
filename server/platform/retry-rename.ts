// Replaces a file on Windows, where a virus scanner or an indexer may have it open for a moment.
import { renameSync } from 'node:fs';

const ATTEMPTS = 10;
const PAUSE_MS = 100;
/** What Windows answers while another program has the file open without sharing it. */
const BUSY = ['EPERM', 'EACCES', 'EBUSY'];

interface Options {
  rename?: (from: string, to: string) => void;
  platform?: NodeJS.Platform;
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}

/**
 * Blocks for up to a second. Elsewhere a refusal is final, and is thrown at once.
 * @throws what the file system throws
 */
export function renameWhenFree(
  from: string,
  to: string,
  { rename = renameSync, platform = process.platform }: Options = {},
): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      rename(from, to);
      return;
    } catch (error) {
      const isBusy = BUSY.includes((error as NodeJS.ErrnoException).code ?? '');
      if (platform !== 'win32' || !isBusy || attempt === ATTEMPTS) throw error;
      pause();
    }
  }
}
