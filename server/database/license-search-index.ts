// SQL that finds licenses by parts of their texts: the indices of migration 0003 on SQLite, LIKE on PostgreSQL.
import type { Condition } from './condition.ts';

/** What a search text may mean, other than words of its texts. */
interface Codes {
  key: string | null;
  keyPart: string | null;
  fingerprintPart: string | null;
}

export interface LicenseSearchIndex {
  /** Whether `words` selects IDs in order, so that the first matches are found without reading all of them. */
  isOrdered: boolean;
  /** The word whose index terms are needed, because all words are too short for the index; otherwise null. */
  needsTerms(words: readonly string[]): string | null;
  /**
   * Selects the IDs of all licenses with the words in their texts, and possibly others.
   * @param terms index terms that start with the word that `needsTerms` named
   */
  words(words: readonly string[], terms?: readonly string[]): Condition;
  /**
   * Checks that the searched text of license `l` contains the words.
   * @param prefix distinguishes the values of several conditions in one statement
   */
  hasWords(words: readonly string[], prefix?: string): Condition;
  /**
   * Selects the IDs of licenses by key, part of a key or part of a device fingerprint.
   * @param suffix distinguishes the values of several conditions in one statement
   */
  codes(codes: Codes, suffix?: string): Condition;
}

/** Characters per entry in the index of words. */
const GRAM = 3;
/** Distance between the indexed pieces of keys and fingerprints; must match migration 0003. */
const KEY_STRIDE = 3;
const FINGERPRINT_STRIDE = 4;

/** Quoted for FTS5's MATCH. */
const quoted = (token: string) => `"${token.replaceAll('"', '""')}"`;
const allOf = (tokens: Iterable<string>) => [...new Set(tokens)].map(quoted).join(' AND ');
const anyOf = (tokens: Iterable<string>) => [...new Set(tokens)].map(quoted).join(' OR ');

/** Has the type of IDs on PostgreSQL too. */
export const NO_LICENSES: Condition = { sql: 'SELECT CAST(NULL AS BIGINT) AS id WHERE FALSE', bind: {} };

const isShort = (text: string) => [...text].length < GRAM;

function gramsOf(text: string): string[] {
  const characters = [...text];
  return characters.slice(GRAM - 1).map((_, start) => characters.slice(start, start + GRAM).join(''));
}

/** The pieces that any text with this part must contain, wherever the part starts. */
function chunksOf(part: string, stride: number): string {
  const offsets = Array.from({ length: stride }, (_, offset) => offset);
  const chunksFrom = (offset: number): string[] => {
    const chunk = part.slice(offset, offset + GRAM);
    return chunk.length < GRAM ? [] : [chunk, ...chunksFrom(offset + stride)];
  };
  return offsets.map((offset) => `(${allOf(chunksFrom(offset))})`).join(' OR ');
}

function likePart(text: string): string {
  return `%${text.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
}

/** All words, each with its own value. @param test the condition for one value */
function eachWord(
  words: readonly string[],
  prefix: string,
  test: (value: string) => string,
  valueOf = (word: string) => word,
): Condition {
  return {
    sql: words.map((_, index) => test(`$${prefix}${index}`)).join(' AND ') || 'TRUE',
    bind: Object.fromEntries(words.map((word, index) => [`${prefix}${index}`, valueOf(word)])),
  };
}

interface PartQueries {
  /** SQL that finds licenses by part of a key. @param suffix of the values `$keyPart` and `$keyChunks` */
  key(suffix: string): string;
  /** SQL that finds licenses by part of a fingerprint, with `$fingerprintPart` and `$fingerprintChunks`. */
  fingerprint(suffix: string): string;
}

function codesBy(partQueries: PartQueries): LicenseSearchIndex['codes'] {
  return ({ key, keyPart, fingerprintPart }, suffix = '') => {
    const queries = [
      ...(key === null ? [] : [`SELECT k.id FROM licenses k WHERE k.license_key = $key${suffix}`]),
      ...(keyPart === null ? [] : [partQueries.key(suffix)]),
      ...(fingerprintPart === null ? [] : [partQueries.fingerprint(suffix)]),
    ];
    return {
      sql: queries.join(' UNION ') || NO_LICENSES.sql,
      bind: {
        [`key${suffix}`]: key,
        [`keyPart${suffix}`]: keyPart,
        [`keyChunks${suffix}`]: keyPart && chunksOf(keyPart, KEY_STRIDE),
        [`fingerprintPart${suffix}`]: fingerprintPart,
        [`fingerprintChunks${suffix}`]: fingerprintPart && chunksOf(fingerprintPart, FINGERPRINT_STRIDE),
      },
    };
  };
}

export const SQLITE_SEARCH: LicenseSearchIndex = {
  isOrdered: true,
  needsTerms(words) {
    const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
    return isShort(longest) ? longest : null;
  },
  words(words, terms = []) {
    const grams = words.filter((word) => !isShort(word)).flatMap((word) => gramsOf(word));
    if (grams.length === 0 && terms.length === 0) return NO_LICENSES;
    return {
      sql: 'SELECT rowid AS id FROM license_words WHERE license_words MATCH $words',
      bind: { words: grams.length === 0 ? anyOf(terms) : allOf(grams) },
    };
  },
  hasWords: (words, prefix = 'word') =>
    eachWord(words, prefix, (value) => `instr(l.search_text, ${value}) > 0`),
  codes: codesBy({
    key: (suffix) => `SELECT k.id FROM license_key_chunks c CROSS JOIN licenses k ON k.id = c.rowid
      WHERE license_key_chunks MATCH $keyChunks${suffix}
        AND instr(replace(k.license_key, '-', ''), $keyPart${suffix}) > 0`,
    fingerprint: (
      suffix,
    ) => `SELECT a.license_id AS id FROM fingerprint_chunks c CROSS JOIN activations a ON a.id = c.rowid
      WHERE fingerprint_chunks MATCH $fingerprintChunks${suffix}
        AND instr(a.machine_fingerprint, $fingerprintPart${suffix}) > 0`,
  }),
};

export const POSTGRES_SEARCH: LicenseSearchIndex = {
  isOrdered: false,
  needsTerms: () => null,
  words(words) {
    const all = eachWord(
      words,
      'part',
      (value) => String.raw`w.search_text LIKE ${value} ESCAPE '\'`,
      likePart,
    );
    return { sql: `SELECT w.id FROM licenses w WHERE ${all.sql}`, bind: all.bind };
  },
  hasWords: (words, prefix = 'word') =>
    eachWord(words, prefix, (value) => String.raw`l.search_text LIKE ${value} ESCAPE '\'`, likePart),
  codes: codesBy({
    key: (suffix) =>
      `SELECT k.id FROM licenses k WHERE replace(k.license_key, '-', '') LIKE '%' || $keyPart${suffix} || '%'`,
    fingerprint: (suffix) => `SELECT a.license_id AS id FROM activations a
      WHERE a.machine_fingerprint LIKE '%' || $fingerprintPart${suffix} || '%'`,
  }),
};
