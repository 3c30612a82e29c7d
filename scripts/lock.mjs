/** Locks between commands that work on the same checkout. Node 20 built-ins only. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often a lock is looked at that names no process: its holder writes the number right after it takes the lock. */
const MAX_UNNAMED = 20;

/** @param {unknown} error */
const errorCode = (error) => /** @type {NodeJS.ErrnoException} */ (error).code;

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user.
    return errorCode(error) === 'EPERM';
  }
}

/**
 * @param {string} file
 * @returns the process that holds the lock; 0 if it names none, null if it was released meanwhile
 */
function readHolder(file) {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || 0;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return null;
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
  let unnamed = 0;
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    const holder = readHolder(file);
    if (holder === 0) unnamed += 1;
    // A killed command leaves its lock behind.
    if (holder ? !isAlive(holder) : unnamed > MAX_UNNAMED) rmSync(file, { force: true });
    else {
      if (holder && !isWaiting) {
        isWaiting = true;
        onWait?.(holder);
      }
      await sleep(100);
    }
  }
}
