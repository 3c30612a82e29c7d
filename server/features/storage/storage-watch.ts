// Checks the storage periodically while the server runs.
import type { Logger } from '#server/platform/logger.ts';
import type { DataFiles } from './data-files.ts';
import type { StorageService } from './storage-service.ts';
import { singleFlight } from '#server/platform/single-flight.ts';

/** Detects a missing data directory within a second of a change. */
const LOOK_EVERY_MS = 800;
/** Without changes, every so many times: each look wakes threads of an idle process. */
const IDLE_LOOKS = 5;
const UPKEEP_EVERY_MS = 5000;

interface Needs {
  storage: Pick<StorageService, 'noteLost' | 'lookAtSpace' | 'noteDamage' | 'recheck'>;
  files: DataFiles;
  /** Whether a change has been attempted since the last call. */
  takeUse(): boolean;
  /** A value that changes with every commit; null if checkpoints are not needed. */
  readLogVersion(): Promise<bigint | null>;
  /** @returns whether everything committed so far is in the database file */
  checkpoint(): Promise<boolean>;
  /** @returns the damage found, or null */
  findDamage(signal: AbortSignal): Promise<string | null>;
  /** How long the damage check waits after the start. */
  settleMs: number;
  logger: Logger;
}

export function watchStorage(needs: Needs): { end(): Promise<void> } {
  const { storage, files, logger } = needs;
  const stopping = new AbortController();
  let lost: string | null = null;
  let savedVersion: bigint | null = null;
  let skipped = 0;

  async function lookAtFiles(): Promise<void> {
    skipped = needs.takeUse() || lost !== null ? 0 : (skipped + 1) % IDLE_LOOKS;
    if (skipped > 0) return;
    const found = await files.findLost();
    storage.noteLost(found);
    // If only the WAL was deleted, its commits are copied to the database file while that still exists.
    if (found !== null && lost === null) await needs.checkpoint();
    lost = found;
  }

  async function saveCommitted(): Promise<void> {
    const version = await needs.readLogVersion();
    if (version === null || version === savedVersion || lost !== null) return;
    if (await needs.checkpoint()) savedVersion = version;
  }

  async function upkeep(): Promise<void> {
    await storage.lookAtSpace();
    await storage.recheck();
    await saveCommitted();
  }

  /** One run at a time. Errors are retried, and appear in the checks of the writers. */
  function every(ms: number, work: () => Promise<void>): { end(): Promise<void> } {
    const run = singleFlight(() => work().catch(() => {}));
    const timer = setInterval(() => void run(), ms);
    timer.unref();
    void run();
    return {
      async end() {
        clearInterval(timer);
        await run.current();
      },
    };
  }

  async function searchDamage(): Promise<void> {
    const startedAt = performance.now();
    try {
      const damage = await needs.findDamage(stopping.signal);
      if (damage !== null) storage.noteDamage(damage);
      else logger.info({ ms: Math.round(performance.now() - startedAt) }, 'the database is undamaged');
    } catch (error) {
      if (!stopping.signal.aborted)
        logger.warn({ err: error as Error }, 'cannot check the database for damage');
    }
  }

  let searching: Promise<void> | undefined;
  const settling = setTimeout(() => {
    searching = searchDamage();
  }, needs.settleMs);
  settling.unref();
  const loops = [every(LOOK_EVERY_MS, lookAtFiles), every(UPKEEP_EVERY_MS, upkeep)];

  return {
    async end() {
      clearTimeout(settling);
      stopping.abort();
      await Promise.all([searching, ...loops.map((loop) => loop.end())]);
      files.close();
    },
  };
}
