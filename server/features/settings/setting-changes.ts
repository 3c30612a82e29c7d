// Differences between two `config.json` files, shown before a restore.
import type { Given } from '#server/platform/config.ts';
import { settingKey, SETTINGS } from '#server/platform/settings.ts';
import { shownValue } from './setting-presenter.ts';

export interface SettingDifference {
  /** As named in `config.json`. */
  name: string;
  /** Null if not set. Secrets are masked. */
  now: string | null;
  restored: string | null;
}

const UNREADABLE = '(not a JSON object)';

/** @param content null if the file is missing @returns null if it has no readable settings */
function parse(content: string | null): Record<string, unknown> | null {
  if (content === null) return {};
  try {
    const parsed: unknown = JSON.parse(content.replace(/^\uFEFF/u, ''));
    const isObject = parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed);
    return isObject ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function toText(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shown(name: string, text: string | null): string | null {
  const row = Object.values(SETTINGS).find((setting) => settingKey(setting) === name);
  if (!row || text === null) return text;
  const given: Given = { source: 'file', text };
  return shownValue(row, given);
}

/**
 * In alphabetical order.
 * @param now, restored the files' contents; null if the file is missing
 */
export function settingDifferences(now: string | null, restored: string | null): SettingDifference[] {
  const [old, next] = [parse(now), parse(restored)];
  if (!old || !next) {
    const whole = (content: string | null, parsed: object | null) =>
      content === null ? null : parsed ? Object.keys(parsed).join(', ') : UNREADABLE;
    const change = { name: 'config.json', now: whole(now, old), restored: whole(restored, next) };
    return now === restored ? [] : [change];
  }
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].toSorted().flatMap((name) => {
    const [was, becomes] = [toText(old[name]), toText(next[name])];
    return was === becomes ? [] : [{ name, now: shown(name, was), restored: shown(name, becomes) }];
  });
}
