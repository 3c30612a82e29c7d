// What a backup or a restore keeps in the data directory while it works, and how a restore puts things in place.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { syncDirectory } from '#server/platform/durable-file.ts';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import { CONFIG, DATABASE } from './backup-format.ts';

export const PLAN = 'plan.json';

/** In the order in which they are put in place: the restore is complete once the database is. */
const INCOMING = [CONFIG, MASTER_KEY_FILE, DATABASE] as const;
/** What belongs to the old database or the old key, and would be wrong beside the new ones. */
const OUTGOING = [`${DATABASE}-wal`, `${DATABASE}-shm`, CONFIG, 'tls'];

const plan = z.object({
  /** What is in the backup. */
  names: z.array(z.enum(INCOMING)),
  /** The folder for what was there before. */
  before: z.string().regex(/^before-restore-[\dTZ-]+$/u),
});

export type RestorePlan = z.infer<typeof plan>;

/** The copy of the database, while a backup is being made. */
export const copyFile = (dataDir: string) => join(dataDir, 'backup-copy.db');
/** Where a restore prepares what it will put in place; worthless if it is interrupted. */
export const stagingFolder = (dataDir: string) => join(dataDir, 'restore-staging');
/** The same once everything is prepared: when it has this name, the restore is committed and will be completed. */
const readyFolder = (dataDir: string) => join(dataDir, 'restore-ready');

/** Removes what a crashed process left. Called under the data directory's lock. */
export function removeLeftovers(dataDir: string): void {
  const copy = copyFile(dataDir);
  for (const path of [copy, `${copy}-journal`, stagingFolder(dataDir)])
    rmSync(path, { recursive: true, force: true });
}

/** A free name for the folder that keeps the present data: `before-restore-20260131T120000Z`. @param now epoch milliseconds */
export function folderForBefore(dataDir: string, now: number): string {
  const name = `before-restore-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/gu, '')}Z`;
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(join(dataDir, free))) return free;
  }
}

/** Everything in the staging folder will be put in place, now or by the next start. */
export function commitRestore(dataDir: string): void {
  syncDirectory(stagingFolder(dataDir));
  renameSync(stagingFolder(dataDir), readyFolder(dataDir));
  syncDirectory(dataDir);
}

/**
 * Puts in place what a restore has committed, also after a crash midway. Called under the data directory's lock.
 * @returns whether there was anything to do
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
      // It has been put in place already.
      if (!existsSync(join(ready, name))) continue;
      keep(name);
      renameSync(join(ready, name), join(dataDir, name));
    }
  }
  if (readdirSync(kept).length === 0) rmdirSync(kept);
  else syncDirectory(kept);
  syncDirectory(dataDir);
  // Under its old name it is removed by the next start, should this be interrupted.
  rmSync(stagingFolder(dataDir), { recursive: true, force: true });
  renameSync(ready, stagingFolder(dataDir));
  removeLeftovers(dataDir);
  return true;
}
