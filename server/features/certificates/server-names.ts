// The names and addresses under which clients reach this server.
import ipaddr from 'ipaddr.js';
import type { Config } from '#server/platform/config.ts';
import { addressesOf, type Interfaces } from '#server/platform/lan-address.ts';
import { listensOn } from '#server/platform/wildcard-host.ts';
import { COMMON_NAME_MAX } from './distinguished-name.ts';
import { toHostName } from './host-name.ts';

export interface Machine {
  hostname: string;
  interfaces: Interfaces;
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
    ...(which === 'one' ? [host] : addressesOf(machine.interfaces, which)),
    ...(baseUrl === null ? [] : [new URL(baseUrl).hostname.replace(/^\[(.*)\]$/u, '$1')]),
  ];
  const hosts = given.map(canonical).filter((name) => name !== null);
  const name = canonical(hostname);
  return {
    commonName: name !== null && name.length <= COMMON_NAME_MAX ? name : 'localhost',
    hosts: [...new Set(hosts)].toSorted(),
  };
}
