// Which names authorities allow in the certificates below them (RFC 5280, 4.2.1.10).
import type { X509Certificate } from 'node:crypto';
import { toHostName } from './host-name.ts';
import { nameConstraints } from './issuer.ts';

/** Tags of GeneralName. */
const KINDS = { email: 0x81, dns: 0x82, directory: 0xa4, ip: 0x87 } as const;

interface Name {
  tag: number;
  /** The octets of an address, or of a name in ASCII. */
  value: Buffer;
}

function hostName(host: string): Name {
  const { kind, value } = toHostName(host);
  return kind === 'ip'
    ? { tag: KINDS.ip, value: Buffer.from(value) }
    : { tag: KINDS.dns, value: Buffer.from(value, 'latin1') };
}

function isDomainOf(base: string, name: string): boolean {
  return base === '' || name === base || name.endsWith(base.startsWith('.') ? base : `.${base}`);
}

/** @param base an address and a mask of the same length */
function isInNetwork(base: Buffer, address: Buffer): boolean {
  if (base.length !== 2 * address.length) return false;
  return address.every((octet, index) => {
    const mask = base[address.length + index] ?? 0;
    return (octet & mask) === ((base[index] ?? 0) & mask);
  });
}

const covers = (base: Buffer, { tag, value }: Name): boolean =>
  tag === KINDS.ip
    ? isInNetwork(base, value)
    : isDomainOf(base.toString('latin1').toLowerCase(), value.toString('latin1'));

function permits(authority: X509Certificate, name: Name): boolean {
  const { permitted, excluded } = nameConstraints(authority.raw);
  const areSame = ({ tag }: { tag: number }) => tag === name.tag;
  const bases = permitted.filter(areSame);
  const isCovered = ({ content }: { content: Buffer }) => covers(content, name);
  return (bases.length === 0 || bases.some(isCovered)) && !excluded.filter(areSame).some(isCovered);
}

/**
 * @param authorities of one chain
 * @returns the first that does not permit one of the hosts, with this host
 */
export function authorityWithoutHost(
  authorities: readonly X509Certificate[],
  hosts: readonly string[],
): { authority: X509Certificate; host: string } | undefined {
  for (const authority of authorities) {
    const host = hosts.find((one) => !permits(authority, hostName(one)));
    if (host !== undefined) return { authority, host };
  }
  return undefined;
}

/** @returns the first that restricts subjects or email addresses. Each client certificate has a subject, and many have an address. */
export const authorityLimitingHolders = (
  authorities: readonly X509Certificate[],
): X509Certificate | undefined =>
  authorities.find(({ raw }) => {
    const { permitted, excluded } = nameConstraints(raw);
    return [...permitted, ...excluded].some(({ tag }) => tag === KINDS.email || tag === KINDS.directory);
  });
