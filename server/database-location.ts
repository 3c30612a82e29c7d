// Where the settings say that the database is.
import { join } from 'node:path';
import type { DatabaseLocation } from './database/connect.ts';
import type { Config } from './platform/config.ts';

export function databaseLocation({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): DatabaseLocation {
  return { url: databaseUrl, file: join(dataDir, 'license-desk.db') };
}
