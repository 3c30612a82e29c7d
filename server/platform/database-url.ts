// Where the settings say that PostgreSQL is: in a setting, or in a file that holds nothing else.
import { readFileSync } from 'node:fs';
import { ConfigError, type SettingValues } from './config.ts';
import { SETTINGS } from './settings.ts';

/**
 * @returns null for SQLite
 * @throws ConfigError if both settings are given, or the file holds no URL
 */
export function readDatabaseUrl({
  databaseUrl,
  databaseUrlFile: file,
}: Pick<SettingValues, 'databaseUrl' | 'databaseUrlFile'>): string | null {
  if (file === null) return databaseUrl;
  const { flag } = SETTINGS.databaseUrlFile;
  if (databaseUrl !== null) {
    throw new ConfigError(
      `--${flag} is ${JSON.stringify(file)}, but database_url is set too; set one of the two`,
    );
  }
  const url = SETTINGS.databaseUrl.parse(readText(file));
  // Without the content: it may be a password.
  if (!url)
    throw new ConfigError(
      `--${flag} is ${JSON.stringify(file)}, which must hold ${SETTINGS.databaseUrl.allowed}`,
    );
  return url;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`--${SETTINGS.databaseUrlFile.flag} cannot be read: ${(error as Error).message}`);
  }
}
