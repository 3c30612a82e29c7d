// The SQL that finds licenses by parts of their texts: by the indices of migration 0003 on SQLite, by LIKE on PostgreSQL.
import type { Condition } from './condition.ts';

/** What a search text can be beside a part of holder or e-mail address. */
interface Codes {
  key: string | null;
  keyPart: string | null;
  fingerprintPart: string | null;
}

export interface LicenseSearchIndex {
  /** Whether `words` selects ids in their order, so that the first of them are found without reading all. */
  isOrdered: boolean;
  /** Whether the text is too short for the index, and is looked up by the entries that begin with it. */
  needsTerms(text: string): boolean;
  /**
   * Selects the ids of licenses that may have the text in holder or e-mail address: all that have it, and others.
   * @param terms entries of the index that stand for a text too short to have one
   */
  words(text: string, terms?: readonly string[]): Condition;
  /** That holder or e-mail address of license `l` has the text. */
  hasWords(text: string): Condition;
  /** Selects the ids of licenses with the key, or with a part of it or of a device's fingerprint; null if it can be neither. */
  codes(codes: Codes): Condition | null;
}

/** Of which characters the index of words has its entries. */
const GRAM = 3;
/** How far apart the pieces of keys and fingerprints are that migration 0003 puts in their indices. */
const KEY_STRIDE = 3;
const FINGERPRINT_STRIDE = 4;

/** In the language of FTS5's MATCH. */
const quoted = (token: string) => `"${token.replaceAll('"', '""')}"`;
const allOf = (tokens: Iterable<string>) => [...new Set(tokens)].map(quoted).join(' AND ');
const anyOf = (tokens: Iterable<string>) => [...new Set(tokens)].map(quoted).join(' OR ');

/** Of the type that ids have, also on PostgreSQL. */
export const NO_LICENSES: Condition = { sql: 'SELECT CAST(NULL AS BIGINT) AS id WHERE FALSE', bind: {} };

const isShort = (text: string) => [...text].length < GRAM;

function gramsOf(text: string): string[] {
  const characters = [...text];
  return characters.slice(GRAM - 1).map((_, start) => characters.slice(start, start + GRAM).join(''));
}

/** The pieces that a text with this part has, wherever in it the part begins. */
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

/** @param partQueries how licenses with a part of a key, and those with a part of a fingerprint, are found */
function codesBy(partQueries: { key: string; fingerprint: string }): LicenseSearchIndex['codes'] {
  return ({ key, keyPart, fingerprintPart }) => {
    const queries = [
      ...(key === null ? [] : ['SELECT k.id FROM licenses k WHERE k.license_key = $key']),
      ...(keyPart === null ? [] : [partQueries.key]),
      ...(fingerprintPart === null ? [] : [partQueries.fingerprint]),
    ];
    if (queries.length === 0) return null;
    return {
      sql: queries.join(' UNION '),
      bind: {
        key,
        keyPart,
        keyChunks: keyPart && chunksOf(keyPart, KEY_STRIDE),
        fingerprintPart,
        fingerprintChunks: fingerprintPart && chunksOf(fingerprintPart, FINGERPRINT_STRIDE),
      },
    };
  };
}

export const SQLITE_SEARCH: LicenseSearchIndex = {
  isOrdered: true,
  needsTerms: isShort,
  words(text, terms = []) {
    if (isShort(text) && terms.length === 0) return NO_LICENSES;
    return {
      sql: 'SELECT rowid AS id FROM license_words WHERE license_words MATCH $words',
      bind: { words: isShort(text) ? anyOf(terms) : allOf(gramsOf(text)) },
    };
  },
  hasWords: (text) => ({ sql: 'instr(l.search_text, $text) > 0', bind: { text } }),
  codes: codesBy({
    key: `SELECT k.id FROM license_key_chunks c CROSS JOIN licenses k ON k.id = c.rowid
      WHERE license_key_chunks MATCH $keyChunks AND instr(replace(k.license_key, '-', ''), $keyPart) > 0`,
    fingerprint: `SELECT a.license_id AS id FROM fingerprint_chunks c CROSS JOIN activations a ON a.id = c.rowid
      WHERE fingerprint_chunks MATCH $fingerprintChunks AND instr(a.machine_fingerprint, $fingerprintPart) > 0`,
  }),
};

export const POSTGRES_SEARCH: LicenseSearchIndex = {
  isOrdered: false,
  needsTerms: () => false,
  words: (text) => ({
    sql: String.raw`SELECT w.id FROM licenses w WHERE w.search_text LIKE $words ESCAPE '\'`,
    bind: { words: likePart(text) },
  }),
  hasWords: (text) => ({
    sql: String.raw`l.search_text LIKE $text ESCAPE '\'`,
    bind: { text: likePart(text) },
  }),
  codes: codesBy({
    key: `SELECT k.id FROM licenses k WHERE replace(k.license_key, '-', '') LIKE '%' || $keyPart || '%'`,
    fingerprint: `SELECT a.license_id AS id FROM activations a
      WHERE a.machine_fingerprint LIKE '%' || $fingerprintPart || '%'`,
  }),
};
