// PostgreSQL URLs, each from a setting, or from a file that contains nothing else.
import { readFileSync } from 'node:fs';
import { ConfigError, type SettingValues } from './config.ts';
import { pathRule } from './rule-error.ts';
import { settingKey, SETTINGS } from './settings.ts';

type UrlSetting = 'databaseUrl' | 'replicaDatabaseUrl';

/**
 * @returns null for SQLite
 * @throws ConfigError if both settings are set, or the file does not contain a URL
 */
export function readDatabaseUrl(
  values: Pick<SettingValues, 'databaseUrl' | 'databaseUrlFile'>,
): string | null {
  return readUrl('databaseUrl', values.databaseUrl, values.databaseUrlFile);
}

/** @returns null without a replica @throws ConfigError as `readDatabaseUrl` */
export function readReplicaUrl(
  values: Pick<SettingValues, 'replicaDatabaseUrl' | 'replicaDatabaseUrlFile'>,
): string | null {
  return readUrl('replicaDatabaseUrl', values.replicaDatabaseUrl, values.replicaDatabaseUrlFile);
}

function readUrl(name: UrlSetting, given: string | null, file: string | null): string | null {
  if (file === null) return given;
  const row = SETTINGS[name];
  const fileRow = SETTINGS[`${name}File`];
  const { flag } = fileRow;
  if (given !== null) {
    throw new ConfigError(
      `--${flag} is ${JSON.stringify(file)}, but ${settingKey(row)} is set too; set one of the two`,
      { rule: { reason: 'only_one', values: { fields: [fileRow, row].map(settingKey) } } },
    );
  }
  const url = row.parse(readText(file, flag));
  // The message omits the content, which may be a password.
  if (!url)
    throw new ConfigError(`--${flag} is ${JSON.stringify(file)}, which must contain ${row.allowed}`, {
      rule: { reason: 'no_database_url', values: { path: file } },
    });
  return url;
}

function readText(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`--${flag} cannot be read: ${(error as Error).message}`, {
      rule: pathRule(error, file),
    });
  }
}
