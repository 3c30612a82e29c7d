// Files that backups and restores keep in the data directory while they work, and the final step of a restore.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { removeDrafts, syncDirectory, writeFileDurably } from '#server/platform/durable-file.ts';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import { CONFIG, DATABASE } from './backup-format.ts';

export const PLAN = 'plan.json';

/** In the order in which they are put in place. The database comes last and completes the restore. */
const INCOMING = [CONFIG, MASTER_KEY_FILE, DATABASE] as const;
/** Files that belong to the previous database or key and must not remain next to the new ones. */
const OUTGOING = [`${DATABASE}-wal`, `${DATABASE}-shm`, CONFIG, 'tls'];

/** The folder that keeps the data from before a restore. */
export const BEFORE = /^before-restore-[\dTZ-]+$/u;

const restoredBackup = z.object({
  /** The file or folder, as the administrator chose it. */
  source: z.string(),
  /** When the backup was made, and by which version of License Desk. */
  created_at: z.string(),
  version: z.string(),
});

const lastRestore = restoredBackup.extend({
  restored_at: z.string(),
  /** The folder with the data from before; null if there was none. */
  before: z.string().nullable(),
});

export type RestoredBackup = z.infer<typeof restoredBackup>;
export type LastRestore = z.infer<typeof lastRestore>;

const plan = z.object({
  /** The files in the backup. */
  names: z.array(z.enum(INCOMING)),
  /** The folder for the previous data. */
  before: z.string().regex(BEFORE),
  /** What is restored, for the administrator. */
  about: restoredBackup.nullable().default(null),
});

export type RestorePlan = z.infer<typeof plan>;

/** The copy of the database while a backup is downloaded. */
export const copyFile = (dataDir: string) => join(dataDir, 'backup-copy.db');
/** The same during a daily backup, which may run at the same time. */
export const scheduledCopyFile = (dataDir: string) => join(dataDir, 'backup-copy-daily.db');
/** Where a restore prepares its files; discarded if it is interrupted. */
export const stagingFolder = (dataDir: string) => join(dataDir, 'restore-staging');
const lastRestoreFile = (dataDir: string) => join(dataDir, 'last-restore.json');

/** Null if there was none, or its record cannot be read. */
export function readLastRestore(dataDir: string): LastRestore | null {
  try {
    return lastRestore.parse(JSON.parse(readFileSync(lastRestoreFile(dataDir), 'utf8')));
  } catch {
    return null;
  }
}

/** The staging folder's name once the restore is committed. From then on it will be completed. */
const readyFolder = (dataDir: string) => join(dataDir, 'restore-ready');

/** An uploaded backup. */
export const uploadFile = (dataDir: string) => join(dataDir, 'restore-upload');

export function removeStaging(dataDir: string): void {
  rmSync(stagingFolder(dataDir), { recursive: true, force: true });
}

/** Removes what a crashed process left behind. Requires the data directory lock. */
export function removeLeftovers(dataDir: string): void {
  removeDrafts(dataDir);
  const copies = [copyFile(dataDir), scheduledCopyFile(dataDir)];
  const journals = copies.map((copy) => `${copy}-journal`);
  const upload = uploadFile(dataDir);
  for (const path of [...copies, ...journals, upload, `${upload}.part`, stagingFolder(dataDir)])
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

/** Requires a committed restore. */
function readPlan(dataDir: string): RestorePlan {
  return plan.parse(JSON.parse(readFileSync(join(readyFolder(dataDir), PLAN), 'utf8')));
}

/** The restore that the next start puts in place; null if there is none. */
export function committedRestore(dataDir: string): RestorePlan | null {
  return existsSync(readyFolder(dataDir)) ? readPlan(dataDir) : null;
}

/** Withdraws a committed restore. Requires that no part of it is in place. */
export function withdrawRestore(dataDir: string): void {
  if (!existsSync(readyFolder(dataDir))) return;
  // Only a database that was not replaced is in it.
  rmSync(join(dataDir, readPlan(dataDir).before), { recursive: true, force: true });
  removeStaging(dataDir);
  renameSync(readyFolder(dataDir), stagingFolder(dataDir));
  syncDirectory(dataDir);
  removeStaging(dataDir);
}

/**
 * Replaces the content of a database that is not a file in the data directory, unless an interrupted call has done that.
 * @param file a SQLite file with the new content
 * @param kept where the present content goes, as a SQLite file
 * @throws NotReplacedError if the database has the content from before; after any other error, that is not known
 */
export type ReplaceDatabase = (file: string, kept: string) => Promise<void>;

/**
 * Puts a committed restore in place, also after a crash midway. Requires the data directory lock.
 * @param replaceDatabase null if the database is a file in the data directory
 * @returns whether there was a restore to finish
 * @throws NotReplacedError after which the restore can be withdrawn
 */
export async function finishRestore(
  dataDir: string,
  replaceDatabase: ReplaceDatabase | null,
): Promise<boolean> {
  const ready = readyFolder(dataDir);
  if (!existsSync(ready)) return false;
  const { names, before, about } = readPlan(dataDir);
  const kept = join(dataDir, before);
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  syncDirectory(dataDir);
  const keep = (name: string) => {
    if (existsSync(join(dataDir, name))) renameSync(join(dataDir, name), join(kept, name));
  };
  if (existsSync(join(ready, DATABASE))) {
    await replaceDatabase?.(join(ready, DATABASE), join(kept, DATABASE));
    for (const name of OUTGOING) if (!names.includes(name as never)) keep(name);
    for (const name of INCOMING) {
      // Already put in place.
      if (!existsSync(join(ready, name))) continue;
      if (replaceDatabase && name === DATABASE) rmSync(join(ready, name));
      else {
        keep(name);
        renameSync(join(ready, name), join(dataDir, name));
      }
    }
  }
  const isEmpty = readdirSync(kept).length === 0;
  if (isEmpty) rmdirSync(kept);
  else syncDirectory(kept);
  syncDirectory(dataDir);
  if (about) {
    const done: LastRestore = {
      ...about,
      restored_at: new Date().toISOString(),
      before: isEmpty ? null : before,
    };
    writeFileDurably(lastRestoreFile(dataDir), `${JSON.stringify(done)}\n`);
  }
  // Renamed back first: if this is interrupted, the next start removes the staging folder.
  removeStaging(dataDir);
  renameSync(ready, stagingFolder(dataDir));
  removeLeftovers(dataDir);
  return true;
}
