// The PostgreSQL URL from a setting, or from a file that contains nothing else.
import { readFileSync } from 'node:fs';
import { ConfigError, type SettingValues } from './config.ts';
import { SETTINGS } from './settings.ts';

/**
 * @returns null for SQLite
 * @throws ConfigError if both settings are set, or the file does not contain a URL
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
  // The message omits the content, which may be a password.
  if (!url)
    throw new ConfigError(
      `--${flag} is ${JSON.stringify(file)}, which must contain ${SETTINGS.databaseUrl.allowed}`,
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
