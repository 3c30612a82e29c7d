// License keys: their format, generation and parsing.
import { hash, randomBytes } from 'node:crypto';

/** Crockford base32: no I, L, O (read as 1, 1, 0) and no U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BODY_LENGTH = 20;
const CHECK_LENGTH = 5;
const GROUP_LENGTH = 5;
/** Enough for a key with generous spacing; longer input is not parsed. */
const MAX_TYPED_LENGTH = 200;

const SHAPE = new RegExp(`^[${ALPHABET}]{${BODY_LENGTH + CHECK_LENGTH}}$`);
/** Fast path: almost all callers send the key as issued. */
const CANONICAL = new RegExp(
  `^(?:[${ALPHABET}]{${GROUP_LENGTH}}-){${BODY_LENGTH / GROUP_LENGTH}}[${ALPHABET}]{${CHECK_LENGTH}}$`,
);
/** Spaces, every Unicode dash, the minus sign, underscore, soft hyphen, zero-width space. */
const SEPARATORS = /[\s\p{Dash_Punctuation}\u2212_\u00AD\u200B]/gu;

/**
 * Generates a license key such as `7K3QD-…-…-…-M2X9A` (contract section 3): five groups of five Crockford base32
 * characters, 20 random ones (100 bits) and a check group.
 * @param random returns that many cryptographically random bytes
 */
export function generateLicenseKey(random: (size: number) => Uint8Array = randomBytes): string {
  // 256 is a multiple of 32, so the low five bits of a random byte are uniform.
  const body = Array.from(random(BODY_LENGTH), (byte) => ALPHABET.charAt(byte & 31)).join('');
  return grouped(body + checkGroup(body));
}

/**
 * Parses a license key as people type and paste it: any case, with or without hyphens and spaces, full-width
 * characters, O for 0, I or L for 1.
 * @returns the key in canonical form, or null if its format or check group is wrong; null means a typing error
 *   (`invalid_request`), in contrast to an unknown key (`license_not_found`)
 */
export function parseLicenseKey(text: string): string | null {
  if (CANONICAL.test(text)) return isChecked(text.replaceAll('-', '')) ? text : null;
  if (text.length > MAX_TYPED_LENGTH) return null;
  const characters = text
    .normalize('NFKC')
    .replace(SEPARATORS, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  return SHAPE.test(characters) && isChecked(characters) ? grouped(characters) : null;
}

function isChecked(characters: string): boolean {
  return characters.slice(BODY_LENGTH) === checkGroup(characters.slice(0, BODY_LENGTH));
}

/** The first 25 bits of SHA-256 over the body: a wrong body or check group passes once in 2^25. */
function checkGroup(body: string): string {
  const bits = hash('sha256', body, 'buffer').readUInt32BE(0) >>> 7;
  return [20, 15, 10, 5, 0].map((shift) => ALPHABET.charAt((bits >>> shift) & 31)).join('');
}

function grouped(characters: string): string {
  const groups: string[] = [];
  for (let at = 0; at < characters.length; at += GROUP_LENGTH)
    groups.push(characters.slice(at, at + GROUP_LENGTH));
  return groups.join('-');
}
