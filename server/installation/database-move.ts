// The move of the database as the data directory knows it. Its last step is the setting that names the new database: what
// comes after it is completed by the next start, and what came before it is undone by a start on the old database.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DatabaseLocation } from '#server/database/connect.ts';
import { removeWhenFree, renameWhenFree } from '#server/platform/busy-files.ts';
import { syncDirectory, writeFileDurably } from '#server/platform/durable-file.ts';
import { databaseFile } from './database-location.ts';
import { databaseName, markNewLocation } from './installation.ts';

const record = z.object({
  id: z.string(),
  /** As `databaseName` has them. */
  from: z.string(),
  to: z.string(),
  /** The folder that keeps the SQLite file after a move from it. */
  before: z.string().regex(/^before-move-[\dTZ-]+$/u),
});

export type MoveRecord = z.infer<typeof record>;

const recordFile = (dataDir: string) => join(dataDir, 'database-move.json');

/** The copy during a move to SQLite. */
export const incomingFile = (dataDir: string) => join(dataDir, 'database-move.db');

const LOGS = ['-wal', '-shm', '-journal'];

/** Removes the file of a move that was interrupted. */
export function removeIncoming(dataDir: string): void {
  for (const suffix of ['', ...LOGS]) removeWhenFree(`${incomingFile(dataDir)}${suffix}`);
}

function readMove(dataDir: string): MoveRecord | null {
  try {
    return record.parse(JSON.parse(readFileSync(recordFile(dataDir), 'utf8')));
  } catch {
    return null;
  }
}

/** Whether the data was moved to SQLite, and the next start puts its file in place. */
export function hasIncoming(dataDir: string, location: DatabaseLocation): boolean {
  const isTarget = location.url === null && readMove(dataDir)?.to === databaseName(location);
  return isTarget && existsSync(incomingFile(dataDir));
}

/** Whether the data was moved to SQLite, and a start with the present settings discards the copy. */
export function hasCopyToDiscard(dataDir: string, location: DatabaseLocation): boolean {
  const isSource = location.url !== null && readMove(dataDir)?.from === databaseName(location);
  return isSource && existsSync(incomingFile(dataDir));
}

/** Written before the setting, when the copy is complete. */
export function writeMove(dataDir: string, move: MoveRecord): void {
  writeFileDurably(recordFile(dataDir), `${JSON.stringify(move)}\n`);
}

export function forgetMove(dataDir: string): void {
  removeWhenFree(recordFile(dataDir));
}

/** A free name for the folder that keeps the SQLite file. @param now epoch milliseconds */
export function folderForMoved(dataDir: string, now: number): string {
  const name = `before-move-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/gu, '')}Z`;
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name}-${count}`;
    if (!existsSync(join(dataDir, free))) return free;
  }
}

function keepSqliteFile(dataDir: string, { before }: MoveRecord): void {
  const file = databaseFile(dataDir);
  const kept = join(dataDir, before);
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  // The database comes last: until then, its log is looked for beside it.
  for (const suffix of [...LOGS, ''])
    if (existsSync(`${file}${suffix}`))
      renameWhenFree(`${file}${suffix}`, `${join(kept, 'license-desk.db')}${suffix}`);
  syncDirectory(kept);
}

/**
 * Puts the files of a move in place once the settings name its new database, or discards them while they name the old
 * one. Requires the data directory lock. Call `forgetMove` when the database has no mark any more.
 * @returns the move, if it concerns the database in use
 */
export function settleMoveFiles(dataDir: string, location: DatabaseLocation): MoveRecord | null {
  const move = readMove(dataDir);
  const inUse = databaseName(location);
  if (move?.to === inUse) {
    if (location.url !== null) keepSqliteFile(dataDir, move);
    else if (existsSync(incomingFile(dataDir))) renameWhenFree(incomingFile(dataDir), databaseFile(dataDir));
    syncDirectory(dataDir);
    markNewLocation(dataDir, location);
    return move;
  }
  removeIncoming(dataDir);
  if (move?.from === inUse) return move;
  forgetMove(dataDir);
  return null;
}
