/** Locks between commands that work on the same checkout. Node 20 built-ins only. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Waits until no other command holds the lock, then takes it.
 *
 * @param {string} file
 * @param {(holder: number) => void} [onWait] called once if another process holds it
 * @returns {Promise<() => void>} releases it
 */
export async function takeLock(file, onWait) {
  mkdirSync(dirname(file), { recursive: true });
  let isWaiting = false;
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch {
      const holder = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
      // A killed command leaves its lock behind.
      if (holder > 0 && !isAlive(holder)) rmSync(file, { force: true });
      else {
        if (holder > 0 && !isWaiting) {
          isWaiting = true;
          onWait?.(holder);
        }
        await sleep(100);
      }
    }
  }
}
