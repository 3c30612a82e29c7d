// How IP addresses, and networks in CIDR notation, are written. Commands load this, so it uses no library.

/** Of a network, without leading zeros. */
export const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/u;
/** An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) as a URL has it. */
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/u;

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
