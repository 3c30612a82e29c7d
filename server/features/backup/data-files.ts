// Files that backups and restores keep in the data directory while they work, and the final step of a restore.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { removeWhenFree, renameWhenFree, whenFree } from '#server/platform/busy-files.ts';
import { removeDrafts, syncDirectory, writeFileDurably } from '#server/platform/durable-file.ts';
import { NotReplacedError } from '#server/database/move/not-replaced.ts';
import { UnusableDatabaseError } from '#server/database/unusable-database.ts';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import { BackupError, CONFIG, DATABASE } from './backup-format.ts';

export const PLAN = 'plan.json';

/** In the order in which they are put in place. The database comes last and completes the restore. */
const INCOMING = [CONFIG, MASTER_KEY_FILE, DATABASE] as const;
/** Files that belong to the previous database or key and must not remain next to the new ones. */
const OUTGOING = [CONFIG, 'tls'];
/** The same of a database that is a file in the data directory. */
const JOURNALS = [`${DATABASE}-wal`, `${DATABASE}-shm`];

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

const canceledRestore = restoredBackup.extend({
  canceled_at: z.string(),
  reason: z.string(),
  /** Whether the audit log has it. */
  recorded: z.boolean(),
});

export type RestoredBackup = z.infer<typeof restoredBackup>;
export type LastRestore = z.infer<typeof lastRestore>;
export type CanceledRestore = z.infer<typeof canceledRestore>;

const plan = z.object({
  /** The files in the backup. */
  names: z.array(z.enum(INCOMING)),
  /** The folder for the previous data. */
  before: z.string().regex(BEFORE),
  /** Whose content is replaced (`databaseName`); null in a plan from an earlier version. */
  database: z.string().nullable().default(null),
  /** What is restored, for the administrator. */
  about: restoredBackup.nullable().default(null),
  /** What had ended at the preview; null if nothing can have changed since then, or nothing can be kept. */
  ended: z
    .object({
      certificates: z.array(z.string()),
      signing_keys: z.array(z.string()),
      authority: z.string().nullable().optional(),
    })
    .nullable()
    .default(null),
});

export type RestorePlan = z.infer<typeof plan>;

/** The copy of the database while a backup is downloaded. */
export const copyFile = (dataDir: string) => join(dataDir, 'backup-copy.db');
/** The same during a daily backup, which may run at the same time. */
export const scheduledCopyFile = (dataDir: string) => join(dataDir, 'backup-copy-daily.db');
/** Where a restore prepares its files; discarded if it is interrupted. */
export const stagingFolder = (dataDir: string) => join(dataDir, 'restore-staging');
const lastRestoreFile = (dataDir: string) => join(dataDir, 'last-restore.json');

const canceledRestoreFile = (dataDir: string) => join(dataDir, 'canceled-restore.json');

/** Null if there is none, or it cannot be read. */
function readRecord<Content>(file: string, schema: z.ZodType<Content>): Content | null {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

export const readLastRestore = (dataDir: string) => readRecord(lastRestoreFile(dataDir), lastRestore);

/** The restore that a start has canceled, until another one is confirmed. */
export const readCanceledRestore = (dataDir: string) =>
  readRecord(canceledRestoreFile(dataDir), canceledRestore);

export function writeCanceledRestore(dataDir: string, canceled: CanceledRestore): void {
  writeFileDurably(canceledRestoreFile(dataDir), `${JSON.stringify(canceled)}\n`);
}

/** The staging folder's name once the restore is committed. From then on it will be completed. */
const readyFolder = (dataDir: string) => join(dataDir, 'restore-ready');

/** An uploaded backup. */
export const uploadFile = (dataDir: string) => join(dataDir, 'restore-upload');

export function removeStaging(dataDir: string): void {
  removeWhenFree(stagingFolder(dataDir), { recursive: true });
}

/** Removes what a crashed process left behind. Requires the data directory lock. */
export function removeLeftovers(dataDir: string): void {
  removeDrafts(dataDir);
  const copies = [copyFile(dataDir), scheduledCopyFile(dataDir)];
  const journals = copies.map((copy) => `${copy}-journal`);
  const upload = uploadFile(dataDir);
  for (const path of [...copies, ...journals, upload, `${upload}.part`, stagingFolder(dataDir)])
    removeWhenFree(path, { recursive: true });
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
  removeWhenFree(canceledRestoreFile(dataDir));
  renameWhenFree(stagingFolder(dataDir), readyFolder(dataDir));
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
  removeWhenFree(join(dataDir, readPlan(dataDir).before), { recursive: true });
  removeStaging(dataDir);
  renameWhenFree(readyFolder(dataDir), stagingFolder(dataDir));
  syncDirectory(dataDir);
  removeStaging(dataDir);
}

/** Withdraws a committed restore that a start cannot put in place, and keeps the reason for the administrator. */
export function cancelRestore(dataDir: string, reason: string): void {
  const about = committedRestore(dataDir)?.about;
  // First: a start that is interrupted in between cancels the restore again.
  if (about) {
    const canceled_at = new Date().toISOString();
    writeCanceledRestore(dataDir, { ...about, canceled_at, reason, recorded: false });
  }
  withdrawRestore(dataDir);
}

/**
 * Replaces the content of a database that is not a file in the data directory, unless an interrupted call has done that.
 * @param file a SQLite file with the new content
 * @param kept where the present content goes, as a SQLite file
 * @param onKept called once it is there, before the new content is read
 * @throws NotReplacedError if the database has the content from before; the errors of `onKept`; after any other error, it
 *   is not known which content the database has
 */
export type ReplaceDatabase = (file: string, kept: string, onKept: () => Promise<void>) => Promise<void>;

/** The database that the settings name now. */
export interface RestoreTarget {
  /** `databaseName` of it. */
  name: string;
  /** Null if the database is a file in the data directory. */
  replace: ReplaceDatabase | null;
  /**
   * Adds to the committed restore in the folder what must not be lost of the current database. May be repeated.
   * @throws NotReplacedError if the current database cannot be read
   */
  carryOver(folder: string, present: string, plan: Pick<RestorePlan, 'ended' | 'about'>): Promise<void>;
  /** Called once the database has the restored content. May be called again after a crash. */
  onReplaced(): void;
}

/** `sqlite`, or the name of the database without its server. */
const lastPart = (name: string) => name.split('/').at(-1);

/**
 * Keeps a restore from replacing a database that its preview was not about. One that has begun is finished under another
 * address of its database, too.
 * @throws NotReplacedError, or BackupError if it has begun
 */
function refuseOtherDatabase({ database }: RestorePlan, { name }: RestoreTarget, hasBegun: boolean): void {
  if (database === null || database === name) return;
  const problem = `the restore was confirmed for the database ${database}, but the settings now name ${name}`;
  if (!hasBegun) throw new NotReplacedError(problem);
  if (lastPart(database) !== lastPart(name))
    throw new BackupError(`${problem}; it has begun, so change them back, then start again`);
}

/** @throws NotReplacedError; after any other error, such as that of a full disk, the next start tries again */
async function carryOver(dataDir: string, found: RestorePlan, target: RestoreTarget, present: string) {
  if (found.ended === null || !existsSync(present)) return;
  const ready = readyFolder(dataDir);
  await target.carryOver(ready, present, found).catch((error: Error) => {
    if (error instanceof NotReplacedError) throw error;
    throw new UnusableDatabaseError(
      `a confirmed restore is not in place yet, and nothing has changed: ${error.message}; correct this and start again, or delete ${ready} to cancel the restore`,
      { cause: error },
    );
  });
}

/**
 * Puts a committed restore in place, also after a crash midway. Requires the data directory lock.
 * @returns whether there was a restore to finish
 * @throws NotReplacedError after which the restore can be withdrawn
 */
export async function finishRestore(dataDir: string, target: RestoreTarget): Promise<boolean> {
  const ready = readyFolder(dataDir);
  if (!existsSync(ready)) return false;
  const found = readPlan(dataDir);
  const { names, before, about } = found;
  const { replace } = target;
  const kept = join(dataDir, before);
  const hasBegun = existsSync(kept);
  refuseOtherDatabase(found, target, hasBegun);
  // Once the folder exists, this is done, and the current files may be out of their place.
  if (!replace && !hasBegun && existsSync(join(ready, DATABASE)))
    await carryOver(dataDir, found, target, join(dataDir, DATABASE));
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  syncDirectory(dataDir);
  const keep = (name: string) => {
    if (existsSync(join(dataDir, name))) renameWhenFree(join(dataDir, name), join(kept, name));
  };
  if (existsSync(join(ready, DATABASE))) {
    const keptDatabase = join(kept, DATABASE);
    await replace?.(join(ready, DATABASE), keptDatabase, () =>
      carryOver(dataDir, found, target, keptDatabase),
    );
    for (const name of [...(replace ? [] : JOURNALS), ...OUTGOING])
      if (!names.includes(name as never)) keep(name);
    for (const name of INCOMING) {
      // Already put in place.
      if (!existsSync(join(ready, name))) continue;
      if (replace && name === DATABASE) removeWhenFree(join(ready, name));
      else {
        keep(name);
        renameWhenFree(join(ready, name), join(dataDir, name));
      }
    }
  }
  target.onReplaced();
  const isEmpty = readdirSync(kept).length === 0;
  if (isEmpty) whenFree(() => rmdirSync(kept));
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
  renameWhenFree(ready, stagingFolder(dataDir));
  removeLeftovers(dataDir);
  return true;
}
