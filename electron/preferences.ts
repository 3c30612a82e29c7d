// What the administrator chose for this computer, kept beside Chromium's files.
import { join } from 'node:path';
import { app } from 'electron';
import type { Preferences } from './bridge.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import type { StartAtLogin } from './start-at-login.ts';

/** All preferences except the login item, which the system stores. */
type Kept = Omit<Preferences, 'start_at_login'>;

export const PREFERENCES_FILE = 'preferences.json';

const DEFAULTS: Kept = { keep_in_tray: true, keep_awake: false, notifications: true, update_address: null };

const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isAddress = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && new URL(value).protocol === 'https:';

const ALLOWED: { [Name in keyof Preferences]: (value: unknown) => boolean } = {
  start_at_login: isBoolean,
  keep_in_tray: isBoolean,
  keep_awake: isBoolean,
  notifications: isBoolean,
  update_address: (value) => value === null || isAddress(value),
};

const STORED_NAMES = Object.keys(DEFAULTS) as (keyof Kept)[];
const isName = (name: string): name is keyof Preferences => Object.hasOwn(ALLOWED, name);

export interface PreferenceStore {
  read(): Preferences;
  /** @throws if a name is unknown or a value is not allowed, and then changes nothing */
  change(change: unknown): Preferences;
  /** Calls the listener after each change. */
  onChange(listener: () => void): void;
}

export function setUpPreferences(startAtLogin: StartAtLogin): PreferenceStore {
  const path = join(app.getPath('userData'), PREFERENCES_FILE);
  const found = readJsonFile(path);
  const usable = STORED_NAMES.filter((name) => ALLOWED[name](found[name]));
  let kept: Kept = { ...DEFAULTS, ...Object.fromEntries(usable.map((name) => [name, found[name]])) };
  const listeners: (() => void)[] = [];
  const read = (): Preferences => ({ start_at_login: startAtLogin.isOn(), ...kept });

  return {
    read,
    change(change) {
      const asked = Object.entries(change ?? {});
      for (const [name, value] of asked) {
        if (!isName(name) || !ALLOWED[name](value)) throw new Error(`${name} cannot be ${String(value)}`);
      }
      const { start_at_login: isStarted, ...next } = {
        ...read(),
        ...Object.fromEntries(asked),
      } as Preferences;
      if (isStarted !== startAtLogin.isOn()) startAtLogin.set(isStarted);
      writeJsonFile(path, next);
      kept = next;
      for (const listener of listeners) listener();
      return read();
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
