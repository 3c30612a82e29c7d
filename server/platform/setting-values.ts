// Parses setting values. Each parser returns undefined for an invalid text. Commands load this, so it uses no library.
import { isIP, isIPv4 } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { isLoopback } from './loopback.ts';

export type TlsSetting =
  | { mode: 'off' }
  | { mode: 'auto' }
  | { mode: 'files'; certificate: string; key: string };

export const BACKUP_SCHEDULES = ['off', 'daily', 'external'] as const;
export type BackupSchedule = (typeof BACKUP_SCHEDULES)[number];

/** A relative path would depend on the directory that the server is started in. */
export function absolutePath(text: string): string | undefined {
  return isAbsolute(text) ? resolve(text) : undefined;
}

export const integer = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  return /^\d{1,10}$/u.test(text) && value >= least && value <= most ? value : undefined;
};

export const seconds = (text: string) => {
  const value = Number(text);
  return /^\d{1,6}(\.\d{1,3})?$/u.test(text) && value > 0 ? value : undefined;
};

function url(protocols: string[]) {
  return (text: string) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined;
}

/** False for a `%` that encodes nothing, as in a password that was not encoded. The driver would refuse it. */
function isDecodable(text: string): boolean {
  try {
    // The bundler removes a call whose result is not used.
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

export function postgresUrl(text: string): string | undefined {
  const isUrl = text.includes('://') && isDecodable(text);
  return isUrl ? url(['postgres:', 'postgresql:'])(text) : undefined;
}

/** Appears in links, so it must not contain a password. Spaces around it or inside would break them. */
export function baseUrl(text: string): string | undefined {
  const address = url(['http:', 'https:'])(text);
  if (address === undefined) return undefined;
  const { username, password, href } = new URL(address);
  return username || password || /[?#]/u.test(address) ? undefined : href.replace(/\/+$/u, '');
}

/** An origin: browsers send it with every call, and it is compared as a whole. */
export function adminUrl(text: string): string | undefined {
  const address = url(['http:', 'https:'])(text);
  if (address === undefined) return undefined;
  const { protocol, hostname, origin, href } = new URL(address);
  const isSafe = protocol === 'https:' || isLoopback(hostname.replaceAll(/[[\]]/gu, ''));
  return isSafe && href === `${origin}/` ? origin : undefined;
}

const HOST_NAME = /^(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*$/u;

export function host(text: string): string | undefined {
  return isIP(text) !== 0 || HOST_NAME.test(text) ? text : undefined;
}

export function ipAddress(text: string): string | undefined {
  return isIP(text) === 0 ? undefined : text;
}

/** Whether `parseNetwork` would read it. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || isIP(address) === 0 || address.includes('%')) return false;
  const least = /^::ffff:/iu.test(address) ? 96 : 0;
  const most = isIPv4(address) ? 32 : 128;
  return bits === undefined || integer(least, most)(bits) !== undefined;
}

export function networks(text: string): string[] | undefined {
  const list = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  return list.every(isNetwork) ? list : undefined;
}

export function tls(text: string): TlsSetting | undefined {
  if (text === 'off' || text === 'auto') return { mode: text };
  const [certificate, key, ...rest] = text.split(',').map((part) => part.trim());
  return certificate && key && rest.length === 0 ? { mode: 'files', certificate, key } : undefined;
}

/** False, how many proxies there are, or their addresses. */
export function trustProxy(text: string): false | number | string[] | undefined {
  if (text === 'off') return false;
  if (text === 'on') return 1;
  return integer(1, 16)(text) ?? (text.replaceAll(',', '').trim() === '' ? undefined : networks(text));
}
