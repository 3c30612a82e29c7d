// The settings of the next start, which reads config.json again while flags and environment stay the same.
import {
  type Config,
  type ConfigFile,
  type Given,
  givenBy,
  parseGiven,
  refuseUnknown,
  type SettingName,
  type SettingValues,
} from '#server/platform/config.ts';
import { requireUsableFiles } from '#server/platform/setting-files.ts';
import { type Setting, SETTINGS } from '#server/platform/settings.ts';
import { isEditable } from './setting-presenter.ts';

const ROWS = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][];

/** The source of a setting at the next start. */
export function nextGiven(config: Config, name: SettingName, file: ConfigFile): Given {
  const now = config.given[name];
  return isEditable(SETTINGS[name], now) ? givenBy(SETTINGS[name], { flags: {}, env: {} }, file) : now;
}

/** Settings of the next start. Where one is invalid, the current value is used. */
export function nextValues(config: Config, file: ConfigFile): SettingValues {
  const values = ROWS.map(([name, row]) => {
    const given = nextGiven(config, name, file);
    return [name, given.source === 'default' ? row.fallback : (row.parse(given.text) ?? config[name])];
  });
  return Object.fromEntries(values) as SettingValues;
}

/** @throws ConfigError if the next start would refuse these settings */
export async function requireUsableSettings(config: Config, file: ConfigFile): Promise<void> {
  refuseUnknown(file);
  for (const [name, row] of ROWS) parseGiven(row, nextGiven(config, name, file));
  await requireUsableFiles(nextValues(config, file));
}
