// Where the settings say that the database is.
import { join } from 'node:path';
import type { DatabaseLocation } from '#server/database/connect.ts';
import type { Config } from '#server/platform/config.ts';
import { readDatabaseUrl } from '#server/platform/database-url.ts';

/** SQLite's. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, 'license-desk.db');
}

/** @throws ConfigError if a file that should hold the URL does not */
export function databaseLocation(
  config: Pick<Config, 'databaseUrl' | 'databaseUrlFile' | 'dataDir'>,
): DatabaseLocation {
  return { url: readDatabaseUrl(config), file: databaseFile(config.dataDir) };
}
