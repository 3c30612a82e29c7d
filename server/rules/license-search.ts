// What a search for licenses looks in, and what its text means: words of a holder, email address, order number or custom
// field, a key or part of one, part of a fingerprint.
import { foldForSearch, keyPartOf, searchWords } from '#server/wire/search-text.ts';
import type { CustomFields } from '#server/wire/custom-fields.ts';
import { parseLicenseKey } from './license-key.ts';

interface Searchable {
  holder: string;
  email: string | null;
  orderNumber: string | null;
  customFields: CustomFields;
}

/** The text in which words are found. The holder comes first, because lists are sorted by it. */
export function licenseSearchText({ holder, email, orderNumber, customFields }: Searchable): string {
  const others = [...(orderNumber === null ? [] : [orderNumber]), ...Object.values(customFields)];
  return foldForSearch([holder, email ?? '', ...others].join('\n'));
}

/** What a search text, or one word of it, may mean beside words. */
export interface LicenseCode {
  /** A complete key. */
  key: string | null;
  /** Part of a key, without hyphens. */
  keyPart: string | null;
  /** Part of a fingerprint's digits. */
  fingerprintPart: string | null;
  /** Words that the license must have as well. */
  words: readonly string[];
}

/** The possible meanings of a search text. Each of them may be the intended one. */
export interface LicenseSearch {
  /** Parts of a holder, email address, order number or custom field, in any order, case-folded; null if the text has another meaning only. */
  words: readonly string[] | null;
  codes: readonly LicenseCode[];
}

const FINGERPRINT_PART = /^(?:sha256:)?([0-9a-f]{6,64})$/u;
const DIGIT = /\d/u;
/** Words beyond these are not looked at one by one. */
const MAX_CODES = 4;

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
  const words = searchWords(text);
  return { words: words.length === 0 ? [text] : words, codes: [...codeOf(text, []), ...codesAmong(words)] };
}
