// Parses setting values. Each parser returns undefined for an invalid text. Commands load this, so it uses no library.
import { isAbsolute, resolve } from 'node:path';
import { isAddress, isNetwork, mappedV4, sharedBits } from '#server/wire/address-text.ts';
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

/** What `postgresUrl` accepts, as a message says it. */
export const POSTGRES_URL =
  'a URL such as postgres://user@host:port/database, with special characters in the password percent-encoded';

/** Null if a `%` does not begin an encoded character, as in a password that was not encoded. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export function postgresUrl(text: string): string | undefined {
  // The driver stops at what it cannot decode, except in the query.
  const [address = ''] = text.split('?');
  const isUrl = address.includes('://') && decoded(address) !== null;
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

/** The address is part of URLs, which cannot have a zone: browsers and `fetch` refuse `http://[fe80::1%eth0]`. */
export function host(text: string): string | undefined {
  return isAddress(text) || HOST_NAME.test(text) ? text : undefined;
}

/** An IPv4-mapped address becomes the IPv4 address. */
export function ipAddress(text: string): string | undefined {
  return isAddress(text) ? (mappedV4(text) ?? text) : undefined;
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
  const hops = integer(1, 16)(text);
  if (hops !== undefined) return hops;
  const list = networks(text);
  // If every address were a proxy's, each client could write its own.
  return list?.length && !list.some((network) => sharedBits(network) === 0) ? list : undefined;
}
