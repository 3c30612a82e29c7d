// How settings are shown: as an administrator would write them, without secrets.
import type { Given, SettingValues } from '#server/platform/config.ts';
import { maskPasswords, maskSecret } from '#server/platform/mask-passwords.ts';
import { type Setting, settingKey } from '#server/platform/settings.ts';
import type { SettingObject } from './settings-contract.ts';

type Value = SettingValues[keyof SettingValues];

/** The text that parses to this value. */
function toText(value: Value): string | null {
  if (value === null) return null;
  if (value === false) return 'off';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object')
    return value.mode === 'files' ? `${value.certificate},${value.key}` : value.mode;
  return String(value);
}

/** The value that may be shown: everything except passwords in URLs. */
export function shownValue(row: Setting<unknown>, given: Given): string | null {
  const text = given.source === 'default' ? toText(row.fallback as Value) : given.text;
  if (text === null) return null;
  return row.secret ? maskSecret(text) : maskPasswords(text);
}

/**
 * Whether `config.json` can change it: the file cannot override a flag or the environment, nor contain its own
 * location.
 */
export function isEditable(row: Setting<unknown>, { source }: Given): boolean {
  return row.flag !== 'data-dir' && (source === 'file' || source === 'default');
}

export function toSettingObject(row: Setting<unknown>, now: Given, next: Given): SettingObject {
  return {
    name: settingKey(row),
    value: shownValue(row, now),
    next_value: shownValue(row, next),
    default: toText(row.fallback as Value),
    source: now.source,
    editable: isEditable(row, now),
    description: row.help,
    allowed: row.allowed,
    kind: row.kind,
    ...(row.choices ? { choices: [...row.choices] } : {}),
    env: row.env,
    flag: `--${row.flag}`,
    secret: row.secret ?? false,
  };
}
