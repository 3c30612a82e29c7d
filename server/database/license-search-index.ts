// SQL that finds licenses by parts of their texts: the indices of migration 0003 on SQLite, LIKE on PostgreSQL.
import type { Condition } from './condition.ts';

/** Codes that a search text may contain, other than a part of the holder or email address. */
interface Codes {
  key: string | null;
  keyPart: string | null;
  fingerprintPart: string | null;
}

export interface LicenseSearchIndex {
  /** Whether `words` selects IDs in order, so that the first matches are found without reading all of them. */
  isOrdered: boolean;
  /** Whether the text is too short for the index and needs the index terms that start with it. */
  needsTerms(text: string): boolean;
  /**
   * Selects the IDs of all licenses with the text in the holder or email address, and possibly others.
   * @param terms index terms for a text that is too short for the index
   */
  words(text: string, terms?: readonly string[]): Condition;
  /** Checks that the holder or email address of license `l` contains the text. */
  hasWords(text: string): Condition;
  /**
   * Selects the IDs of licenses by key, part of a key or part of a device fingerprint. Null if the text cannot be any
   * of these.
   */
  codes(codes: Codes): Condition | null;
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

/** @param partQueries SQL that finds licenses by part of a key and by part of a fingerprint */
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
