// Parses search texts for licenses: words of a holder or email address, a key or part of one, part of a fingerprint.
import { parseLicenseKey } from './license-key.ts';

/** What a search text, or one word of it, may mean beside words. */
export interface LicenseCode {
  /** A complete key. */
  key: string | null;
  /** Part of a key, without hyphens. */
  keyPart: string | null;
  /** Part of a fingerprint's digits. */
  fingerprintPart: string | null;
  /** Words that the holder or email address must have as well. */
  words: readonly string[];
}

/** The possible meanings of a search text. Each of them may be the intended one. */
export interface LicenseSearch {
  /** Parts of a holder or email address, in any order, case-folded; null if the text has another meaning only. */
  words: readonly string[] | null;
  codes: readonly LicenseCode[];
}

/** Fewer characters would occur in many keys by chance. */
const KEY_PART = /^[0-9A-HJKMNP-TV-Z]{5,25}$/u;
const FINGERPRINT_PART = /^(?:sha256:)?([0-9a-f]{6,64})$/u;
const DIGIT = /\d/u;
/** Words beyond these are not looked at one by one. */
const MAX_CODES = 4;

/**
 * Removes case and accents, so that `novacek` finds `Nováček`. The databases fold letters differently, SQLite only
 * ASCII.
 */
export function foldForSearch(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** Part of a key as it is stored: without separators, O as 0, I and L as 1. Null if the text cannot be one. */
function keyPartOf(folded: string): string | null {
  const characters = folded
    .replaceAll(/[\s\p{Dash_Punctuation}]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replaceAll(/[IL]/gu, '1');
  return KEY_PART.test(characters) ? characters : null;
}

function codeOf(folded: string, words: readonly string[]): LicenseCode[] {
  const keyPart = keyPartOf(folded);
  const fingerprintPart = FINGERPRINT_PART.exec(folded)?.[1] ?? null;
  return keyPart === null && fingerprintPart === null ? [] : [{ key: null, keyPart, fingerprintPart, words }];
}

/** `acme 7kqxh`: most words are not codes, but a code is likely to have a digit. */
function codesAmong(words: readonly string[]): LicenseCode[] {
  if (words.length < 2) return [];
  const likely = words.filter((word) => DIGIT.test(word)).slice(0, MAX_CODES);
  return likely.flatMap((word) =>
    codeOf(
      word,
      words.filter((other) => other !== word),
    ),
  );
}

/** A complete key has no other meaning; other texts can have several. */
export function parseSearch(search: string): LicenseSearch {
  const key = parseLicenseKey(search);
  if (key !== null) return { words: null, codes: [{ key, keyPart: null, fingerprintPart: null, words: [] }] };
  const text = foldForSearch(search);
  const words = [...new Set(text.split(/\s+/u).filter((word) => word !== ''))];
  return { words: words.length === 0 ? [text] : words, codes: [...codeOf(text, []), ...codesAmong(words)] };
}
