// What is known about earlier backups. In files, because a restored database must not bring back what an older
// backup knew, and because a command must be able to read it while the database is lost.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { BACKUP_PROBLEMS } from './backup-status-contract.ts';

/** Epoch milliseconds. */
const at = z.number();

const writtenFile = z.object({ path: z.string(), at, bytes: z.int(), encrypted: z.boolean() });

const folderRecord = z.object({
  /** The files that this installation has written to a folder and not removed since, oldest first. Nothing else is ever removed. */
  files: z.array(writtenFile).default([]),
  /** The backup in progress: the file with its temporary name, and the one that it becomes. */
  writing: z.object({ draft: z.string(), file: writtenFile }).nullable().default(null),
  /** Unfinished files of earlier backups that could not be removed: their folder was read-only or not connected. */
  leftovers: z.array(z.string()).default([]),
  succeeded: writtenFile.extend({ ms: z.number() }).nullable().default(null),
  /** Of the last run, if it failed. */
  failed: z
    .object({ at, attempts: z.int(), problem: z.enum(BACKUP_PROBLEMS), message: z.string() })
    .nullable()
    .default(null),
});

const downloadRecord = z.object({ at, bytes: z.int(), encrypted: z.boolean() });

export type WrittenFile = z.infer<typeof writtenFile>;
export type FolderRecord = z.infer<typeof folderRecord>;
export type DownloadRecord = z.infer<typeof downloadRecord>;

const FOLDER_FILE = 'backup-folder.json';
const DOWNLOAD_FILE = 'backup-download.json';

/** A missing or damaged file is like one without content: the next backup writes it again. */
function read<Content>(dataDir: string, name: string, schema: z.ZodType<Content>): Content | null {
  try {
    return schema.parse(JSON.parse(readFileSync(join(dataDir, name), 'utf8')));
  } catch {
    return null;
  }
}

export function readFolderRecord(dataDir: string): FolderRecord {
  return read(dataDir, FOLDER_FILE, folderRecord) ?? folderRecord.parse({});
}

/** A folder that had backups is not created again: its disk is not connected. */
export const mayCreateFolder = ({ files }: FolderRecord, folder: string): boolean =>
  files.every(({ path }) => dirname(path) !== folder);

export function writeFolderRecord(dataDir: string, record: FolderRecord): void {
  writeFileDurably(join(dataDir, FOLDER_FILE), `${JSON.stringify(record, null, 2)}\n`);
}

/** The last backup that was downloaded completely, by the back office or a command. */
export function readDownloadRecord(dataDir: string): DownloadRecord | null {
  return read(dataDir, DOWNLOAD_FILE, downloadRecord);
}

export function writeDownloadRecord(dataDir: string, record: DownloadRecord): void {
  writeFileDurably(join(dataDir, DOWNLOAD_FILE), `${JSON.stringify(record)}\n`);
}

/** For a new installation: the backups of the one before it are not its own, and it must not remove them. */
export function disownBackups(dataDir: string): void {
  rmSync(join(dataDir, DOWNLOAD_FILE), { force: true });
  if (!existsSync(join(dataDir, FOLDER_FILE))) return;
  const record = readFolderRecord(dataDir);
  writeFolderRecord(dataDir, { ...record, files: [], succeeded: null, failed: null });
}
