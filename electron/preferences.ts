// What the administrator chose for this computer, kept beside Chromium's files.
import { join } from 'node:path';
import { app } from 'electron';
import type { Preferences } from './bridge.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { setStartAtLogin } from './start-at-login.ts';

const DEFAULTS: Preferences = {
  start_at_login: false,
  keep_in_tray: true,
  notifications: true,
  update_address: null,
};

const isAddress = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'https:';

const ALLOWED: { [Name in keyof Preferences]: (value: unknown) => boolean } = {
  start_at_login: (value) => typeof value === 'boolean',
  keep_in_tray: (value) => typeof value === 'boolean',
  notifications: (value) => typeof value === 'boolean',
  update_address: (value) => value === null || isAddress(value),
};

const NAMES = Object.keys(DEFAULTS) as (keyof Preferences)[];

export interface PreferenceStore {
  read(): Preferences;
  /** @throws if a name is unknown or a value cannot be, and then changes nothing */
  change(change: unknown): Preferences;
}

export function setUpPreferences(): PreferenceStore {
  const path = join(app.getPath('userData'), 'preferences.json');
  const kept = readJsonFile(path);
  const usable = NAMES.filter((name) => ALLOWED[name](kept[name]));
  let preferences: Preferences = {
    ...DEFAULTS,
    ...Object.fromEntries(usable.map((name) => [name, kept[name]])),
  };

  return {
    read: () => preferences,
    change(change) {
      const asked = Object.entries(change ?? {});
      for (const [name, value] of asked) {
        const isAllowed = NAMES.find((known) => known === name);
        if (!isAllowed || !ALLOWED[isAllowed](value)) throw new Error(`${name} cannot be ${String(value)}`);
      }
      const next: Preferences = { ...preferences, ...Object.fromEntries(asked) };
      if (next.start_at_login !== preferences.start_at_login) setStartAtLogin(next.start_at_login);
      writeJsonFile(path, next);
      preferences = next;
      return preferences;
    },
  };
}
