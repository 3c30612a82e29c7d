// What both kinds of backups are made of: a copy of the running database, and an archive around it.
import { existsSync, readFileSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import type { DatabaseLocation } from '#server/database/connect.ts';
import { removeWhenFreeLater } from '#server/platform/busy-files.ts';
import { configFilePath, readConfigFile } from '#server/platform/config.ts';
import { isOutOfSpace } from '#server/platform/database-fault.ts';
import { withoutDatabaseSettings } from '#server/platform/settings.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { measure, type Source, writeArchive } from './archive-writer.ts';
import {
  CONFIG,
  DATABASE,
  MANIFEST,
  type Manifest,
  MASTER_KEY,
  type PartName,
  SPARE_SPACE,
} from './backup-format.ts';

/**
 * Private keys that wait for their one download. Idempotent replies stay in: without them, a call that is repeated
 * after a restore would take effect twice.
 */
const LEFT_OUT = ['certificate_keys'];

/** The installation that is backed up. */
export interface BackedUp {
  dataDir: string;
  database: DatabaseLocation;
  masterKey: Buffer;
  /** License Desk version and database schema. */
  version: string;
  schema: string;
}

/** Writes a SQLite file. */
export type CopyDatabase = (
  source: DatabaseLocation,
  target: string,
  options: { withoutRowsOf: readonly string[]; signal: AbortSignal },
) => Promise<void>;

/** The data directory's disk has no space for the copy. */
export class NoSpaceError extends Error {
  override readonly name = 'NoSpaceError';
}

const noSpace = (needed: number, free: number) =>
  new NoSpaceError(`not enough disk space to copy the database: ${needed} bytes needed, ${free} bytes free`);

export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

async function sizeOnDisk(file: string): Promise<number> {
  return existsSync(file) ? (await stat(file)).size : 0;
}

/** Not known for PostgreSQL, where the copy ends when the disk is full. */
async function sizeOf({ url, file }: DatabaseLocation): Promise<number> {
  return url === null ? (await sizeOnDisk(file)) + (await sizeOnDisk(`${file}-wal`)) : 0;
}

/**
 * @param copy the file to create
 * @throws NoSpaceError; the signal's reason, or SQLite's error, if it is aborted
 */
export async function copyForBackup(
  { dataDir, database }: BackedUp,
  copyDatabase: CopyDatabase,
  copy: string,
  signal: AbortSignal,
): Promise<void> {
  const needed = (await sizeOf(database)) + SPARE_SPACE;
  const free = await freeBytes(dataDir);
  if (free < needed) throw noSpace(needed, free);
  await removeWhenFreeLater(copy);
  try {
    await copyDatabase(database, copy, { withoutRowsOf: LEFT_OUT, signal });
  } catch (error) {
    if (!isOutOfSpace(error)) throw error;
    throw noSpace(needed, await freeBytes(dataDir));
  }
}

/**
 * The settings without the location of the database, whose URL may contain a password. A restore keeps the present
 * location anyway.
 * @returns null if a password could be anywhere, because the text is not a JSON object
 */
function withoutDatabase(dataDir: string, text: string): string | null {
  try {
    const settings = readConfigFile(dataDir);
    const others = withoutDatabaseSettings(settings);
    if (Object.keys(others).length === Object.keys(settings).length) return text;
    return `${JSON.stringify(others, null, 2)}\n`;
  } catch {
    return null;
  }
}

/** @returns null if there is none */
function configFor(dataDir: string, passphrase: string | null): string | null {
  const path = configFilePath(dataDir);
  if (!existsSync(path)) return null;
  const text = readFileSync(path, 'utf8');
  return passphrase === null ? withoutDatabase(dataDir, text) : text;
}

function partsOf({ dataDir, masterKey }: BackedUp, copy: string, passphrase: string | null) {
  const parts: Source<PartName>[] = [];
  const config = configFor(dataDir, passphrase);
  if (config !== null) parts.push({ name: CONFIG, text: config });
  if (passphrase !== null) parts.push({ name: MASTER_KEY, text: `${masterKey.toString('base64')}\n` });
  return [...parts, { name: DATABASE, path: copy } as const];
}

/** `license-desk-20260131T120000Z.ldbackup`. @param now epoch milliseconds */
export function backupFileName(now: number, isEncrypted: boolean): string {
  const time = toTimestamp(now).slice(0, 19).replaceAll(/[-:]/gu, '');
  return `license-desk-${time}Z.${isEncrypted ? 'ldbackup' : 'tar'}`;
}

interface ArchiveOptions {
  /** The copy of the database. */
  copy: string;
  /** Encrypts the archive and includes the master key; null makes a readable archive without that key. */
  passphrase: string | null;
  /** Epoch milliseconds. */
  now: number;
}

/** @returns the archive, produced while it is read, and its size in bytes */
export async function archiveOf(installation: BackedUp, { copy, passphrase, now }: ArchiveOptions) {
  const parts = partsOf(installation, copy, passphrase);
  const manifest: Manifest = {
    format: 'license-desk-backup',
    format_version: 1,
    version: installation.version,
    schema: installation.schema,
    created_at: toTimestamp(now),
    parts: await Promise.all(parts.map(measure)),
  };
  const sources = [{ name: MANIFEST, text: `${JSON.stringify(manifest, null, 2)}\n` }, ...parts];
  return writeArchive(sources, { passphrase, mtime: new Date(now) });
}
