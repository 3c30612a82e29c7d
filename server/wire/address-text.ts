// How IP addresses, and networks in CIDR notation, are written. Commands load this, so it uses no library.

/** Four decimal numbers up to 255, without leading zeros. */
const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/u;
/** An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) as a URL has it. */
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/u;
/** Bits of an IPv4-mapped address before the IPv4 address. */
const MAPPED_BITS = 96;
/** Without leading zeros. */
const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/u;

/** @returns the one spelling that URLs have of an IPv6 address; null if the text is not one, or has a zone */
export function canonicalV6(text: string): string | null {
  const url = `http://[${text}]`;
  return /^[\da-f:.]+$/iu.test(text) && URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : null;
}

/** @returns the IPv4 address that an IPv4-mapped IPv6 address stands for; null for other texts */
export function mappedV4(text: string): string | null {
  const [, high, low] = MAPPED.exec(canonicalV6(text) ?? '') ?? [];
  if (high === undefined || low === undefined) return null;
  const groups = [high, low].map((group) => Number.parseInt(group, 16));
  return groups.flatMap((group) => [Math.floor(group / 256), group % 256]).join('.');
}

/**
 * How many leading bits the addresses of a network share. A single address is a network of one, and an IPv4-mapped
 * network is the IPv4 network.
 * @returns undefined if the text is neither a network nor an address
 */
export function sharedBits(text: string): number | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const isV4 = V4.test(address);
  const canonical = isV4 ? null : canonicalV6(address);
  if (rest.length > 0 || (!isV4 && canonical === null)) return undefined;
  const most = isV4 ? 32 : 128;
  const ofMapping = canonical !== null && MAPPED.test(canonical) ? MAPPED_BITS : 0;
  if (length === undefined) return most - ofMapping;
  const bits = PREFIX_LENGTH.test(length) ? Number(length) : Number.NaN;
  return bits >= ofMapping && bits <= most ? bits - ofMapping : undefined;
}

/** Whether the text is a network in CIDR notation, or a single address. */
export const isNetwork = (text: string): boolean => sharedBits(text) !== undefined;

/** Whether the text is an IP address without a zone (`fe80::1%eth0`), which means something on one machine only. */
export const isAddress = (text: string): boolean => !text.includes('/') && isNetwork(text);
