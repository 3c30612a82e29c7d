// A rough estimate of how hard a passphrase is to guess. Advice only: the server checks only the length.
import { MIN_PASSPHRASE } from '#server/wire/passphrase-length.ts';

export type PassphraseStrength = 'short' | 'weak' | 'fair' | 'strong';

const CHARACTER_CLASSES = [
  { pattern: /[a-z]/u, size: 26 },
  { pattern: /[A-Z]/u, size: 26 },
  { pattern: /[0-9]/u, size: 10 },
  { pattern: /[^a-zA-Z0-9]/u, size: 33 },
];
/** People do not choose characters at random. */
const BITS_OF_RANDOM = 0.5;
/** Bits of a word from a list of a few thousand. */
const BITS_PER_WORD = 13;
const FAIR_BITS = 35;
const STRONG_BITS = 60;

function bitsOf(passphrase: string): number {
  const alphabet = CHARACTER_CLASSES.filter(({ pattern }) => pattern.test(passphrase));
  const size = alphabet.reduce((sum, { size: of }) => sum + of, 0);
  const characters = [...passphrase];
  const length = Math.min(characters.length, 2 * new Set(characters).size);
  const byCharacters = length * Math.log2(size) * BITS_OF_RANDOM;
  const words = new Set(passphrase.toLowerCase().split(/[\s_-]+/u));
  return words.size > 1 ? Math.min(byCharacters, words.size * BITS_PER_WORD) : byCharacters;
}

/** @param passphrase not empty */
export function passphraseStrength(passphrase: string): PassphraseStrength {
  if (passphrase.length < MIN_PASSPHRASE) return 'short';
  const bits = bitsOf(passphrase);
  if (bits < FAIR_BITS) return 'weak';
  return bits < STRONG_BITS ? 'fair' : 'strong';
}
