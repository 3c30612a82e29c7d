// Distinguishes a first start from a start that has lost its database. The latter must not become a new installation
// with a new signing key.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DatabaseLocation } from '#server/database/connect.ts';
import { UnusableDatabaseError } from '#server/database/unusable-database.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import { SETTINGS } from '#server/platform/settings.ts';
import { markerFile } from './used-directory.ts';

const marker = z.object({
  /** `sqlite`, or the PostgreSQL database without its credentials. */
  database: z.string(),
});

/** Identifies the database, to distinguish a newly configured one from one that has lost its content. */
export function databaseName({ url }: DatabaseLocation): string {
  if (url === null) return 'sqlite';
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

function markedDatabase(dataDir: string): string | null {
  try {
    return marker.parse(JSON.parse(readFileSync(markerFile(dataDir), 'utf8'))).database;
  } catch {
    return null;
  }
}

/** Whether an earlier start on this data directory has set up this database. */
export function isMarked(dataDir: string, location: DatabaseLocation): boolean {
  return markedDatabase(dataDir) === databaseName(location);
}

/** After a move or a restore, the new database must exist where the old one had to. */
export function markNewLocation(dataDir: string, location: DatabaseLocation): void {
  if (markedDatabase(dataDir) !== null) markInstallation(dataDir, location);
}

/** Called once the database contains a signing key and no longer depends on its WAL. */
export function markInstallation(dataDir: string, location: DatabaseLocation): void {
  writeFileDurably(markerFile(dataDir), `${JSON.stringify({ database: databaseName(location) })}\n`);
}

/**
 * Whether the database must exist. A first start writes the key file after the schema, so a SQLite installation with a
 * key file has had a database, even if it is older than the marker. A key in the environment or in the desktop app's
 * keychain proves nothing, because it exists before the first start.
 */
export function hasHadDatabase(dataDir: string, location: DatabaseLocation): boolean {
  const hasKeyFile = location.url === null && existsSync(join(dataDir, MASTER_KEY_FILE));
  return hasKeyFile || isMarked(dataDir, location);
}

/** Whether the SQLite file is missing or empty. Connecting would create it and delete its WAL. */
export function isFileMissing({ url, file }: DatabaseLocation): boolean {
  if (url !== null) return false;
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined || (stats.isFile() && stats.size === 0);
}

function withoutPostgres(location: DatabaseLocation): string {
  const what = isFileMissing(location)
    ? 'start over with a new database and signing key'
    : `go on with the SQLite database ${location.file}, which lacks all changes made in PostgreSQL`;
  return `${what} (license-desk serve --new-installation)`;
}

/**
 * Whether no setting names the PostgreSQL database of the installation, as for a command without the environment of the
 * service. On SQLite, the data directory would become a second installation: an empty one, or one from the past, where
 * what was revoked since is valid.
 * @param otherwise what to do if that database is lost
 * @returns the error to throw; null if the database may be opened or created
 */
export function missingSetting(
  dataDir: string,
  location: DatabaseLocation,
  otherwise = withoutPostgres(location),
): UnusableDatabaseError | null {
  const marked = markedDatabase(dataDir);
  const isElsewhere = marked !== null && location.url === null && marked !== databaseName(location);
  if (!isElsewhere) return null;
  const { databaseUrl, databaseUrlFile } = SETTINGS;
  return new UnusableDatabaseError(
    `${dataDir} belongs to an installation in ${marked}, but no setting names that database; set ${databaseUrl.env} or ` +
      `${databaseUrlFile.env} as for its server, or ${otherwise}`,
    { rule: { reason: 'database_elsewhere', values: { database: marked } } },
  );
}

export function lostDatabase(dataDir: string, location: DatabaseLocation): UnusableDatabaseError {
  const which = location.url === null ? location.file : databaseName(location);
  return new UnusableDatabaseError(
    `the database ${which} is missing or empty, but ${dataDir} belongs to an installation that had one; ` +
      'restore it (license-desk restore FILE), or start over with a new signing key (license-desk serve --new-installation)',
  );
}
