// The database location from the settings.
import { join } from 'node:path';
import type { DatabaseLocation } from '#server/database/connect.ts';
import type { Config } from '#server/platform/config.ts';
import { readDatabaseUrl } from '#server/platform/database-url.ts';

/** The SQLite file. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, 'license-desk.db');
}

/** @throws ConfigError if the configured file does not contain a URL */
export function databaseLocation(
  config: Pick<Config, 'databaseUrl' | 'databaseUrlFile' | 'dataDir'>,
): DatabaseLocation {
  return { url: readDatabaseUrl(config), file: databaseFile(config.dataDir) };
}
