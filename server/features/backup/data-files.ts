// Files that backups and restores keep in the data directory while they work, and the final step of a restore.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { syncDirectory } from '#server/platform/durable-file.ts';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import { CONFIG, DATABASE } from './backup-format.ts';

export const PLAN = 'plan.json';

/** In the order in which they are put in place. The database comes last and completes the restore. */
const INCOMING = [CONFIG, MASTER_KEY_FILE, DATABASE] as const;
/** Files that belong to the previous database or key and must not remain next to the new ones. */
const OUTGOING = [`${DATABASE}-wal`, `${DATABASE}-shm`, CONFIG, 'tls'];

const plan = z.object({
  /** The files in the backup. */
  names: z.array(z.enum(INCOMING)),
  /** The folder for the previous data. */
  before: z.string().regex(/^before-restore-[\dTZ-]+$/u),
});

export type RestorePlan = z.infer<typeof plan>;

/** The copy of the database during a backup. */
export const copyFile = (dataDir: string) => join(dataDir, 'backup-copy.db');
/** Where a restore prepares its files; discarded if it is interrupted. */
export const stagingFolder = (dataDir: string) => join(dataDir, 'restore-staging');
/** The staging folder's name once the restore is committed. From then on it will be completed. */
const readyFolder = (dataDir: string) => join(dataDir, 'restore-ready');

/** Removes what a crashed process left behind. Requires the data directory lock. */
export function removeLeftovers(dataDir: string): void {
  const copy = copyFile(dataDir);
  for (const path of [copy, `${copy}-journal`, stagingFolder(dataDir)])
    rmSync(path, { recursive: true, force: true });
}

/**
 * A free name for the folder that keeps the current data: `before-restore-20260131T120000Z`. @param now epoch
 * milliseconds
 */
export function folderForBefore(dataDir: string, now: number): string {
  const name = `before-restore-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/gu, '')}Z`;
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(join(dataDir, free))) return free;
  }
}

/** Commits to putting the staging folder in place, now or at the next start. */
export function commitRestore(dataDir: string): void {
  syncDirectory(stagingFolder(dataDir));
  renameSync(stagingFolder(dataDir), readyFolder(dataDir));
  syncDirectory(dataDir);
}

/**
 * Puts a committed restore in place, also after a crash midway. Requires the data directory lock.
 * @returns whether there was a restore to finish
 */
export function finishRestore(dataDir: string): boolean {
  const ready = readyFolder(dataDir);
  if (!existsSync(ready)) return false;
  const { names, before } = plan.parse(JSON.parse(readFileSync(join(ready, PLAN), 'utf8')));
  const kept = join(dataDir, before);
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  const keep = (name: string) => {
    if (existsSync(join(dataDir, name))) renameSync(join(dataDir, name), join(kept, name));
  };
  if (existsSync(join(ready, DATABASE))) {
    for (const name of OUTGOING) if (!names.includes(name as never)) keep(name);
    for (const name of INCOMING) {
      // Already put in place.
      if (!existsSync(join(ready, name))) continue;
      keep(name);
      renameSync(join(ready, name), join(dataDir, name));
    }
  }
  if (readdirSync(kept).length === 0) rmdirSync(kept);
  else syncDirectory(kept);
  syncDirectory(dataDir);
  // Renamed back first: if this is interrupted, the next start removes the staging folder.
  rmSync(stagingFolder(dataDir), { recursive: true, force: true });
  renameSync(ready, stagingFolder(dataDir));
  removeLeftovers(dataDir);
  return true;
}
