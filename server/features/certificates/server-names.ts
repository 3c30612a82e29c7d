// The names and addresses under which clients reach this server.
import type { NetworkInterfaceInfo } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { Config } from '#server/platform/config.ts';
import { COMMON_NAME_MAX } from './distinguished-name.ts';
import { toHostName } from './host-name.ts';

export interface Machine {
  hostname: string;
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;
}

export interface ServerNames {
  commonName: string;
  /** In canonical form, sorted. */
  hosts: string[];
}

/** The canonical form; null if a certificate cannot name the host. */
function canonical(host: string): string | null {
  try {
    const { kind, value } = toHostName(host);
    return kind === 'ip' ? ipaddr.fromByteArray([...value]).toString() : value;
  } catch {
    return null;
  }
}

function listensOn(host: string): 'one' | 'ipv4' | 'all' {
  if (!ipaddr.isValid(host)) return 'one';
  const address = ipaddr.parse(host);
  if (address.range() !== 'unspecified') return 'one';
  return address.kind() === 'ipv4' ? 'ipv4' : 'all';
}

function addressesOf({ interfaces }: Machine, which: 'ipv4' | 'all'): string[] {
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && (which === 'all' || family === 'IPv4'))
    .map(({ address }) => address)
    .filter((address) => ipaddr.isValid(address) && isReachable(address));
}

/** Excludes link-local addresses, which URLs cannot express; containers add many of them. */
function isReachable(address: string): boolean {
  const parsed = ipaddr.parse(address);
  return parsed.kind() === 'ipv4' || parsed.range() !== 'linkLocal';
}

/** This machine's names with and without their domain, except those that a certificate cannot contain. */
export function serverNames(
  { host, baseUrl }: Pick<Config, 'host' | 'baseUrl'>,
  machine: Machine,
): ServerNames {
  const { hostname } = machine;
  const which = listensOn(host);
  const given = [
    'localhost',
    '127.0.0.1',
    '::1',
    hostname,
    hostname.replace(/\..*$/su, ''),
    ...(which === 'one' ? [host] : addressesOf(machine, which)),
    ...(baseUrl === null ? [] : [new URL(baseUrl).hostname.replace(/^\[(.*)\]$/u, '$1')]),
  ];
  const hosts = given.map(canonical).filter((name) => name !== null);
  const name = canonical(hostname);
  return {
    commonName: name !== null && name.length <= COMMON_NAME_MAX ? name : 'localhost',
    hosts: [...new Set(hosts)].toSorted(),
  };
}
