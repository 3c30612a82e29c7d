// The SQL that finds licenses by parts of their texts: by the indices of migration 0003 on SQLite, by LIKE on PostgreSQL.
import type { Dialect } from '#server/database/connect.ts';
import type { Condition } from './license-query.ts';
import type { LicenseSearch } from '#server/rules/license-search.ts';

/** Of which characters the index of words has its entries. */
const GRAM = 3;
/** How far apart the pieces of keys and fingerprints are that migration 0003 puts in their indices. */
const KEY_STRIDE = 3;
const FINGERPRINT_STRIDE = 4;

/** In the language of FTS5's MATCH. */
const quoted = (token: string) => `"${token.replaceAll('"', '""')}"`;
const allOf = (tokens: Iterable<string>) => [...new Set(tokens)].map(quoted).join(' AND ');
const anyOf = (tokens: Iterable<string>) => [...new Set(tokens)].map(quoted).join(' OR ');

/** Whether the index of words can tell where this text may be. */
export function hasGrams(text: string): boolean {
  return [...text].length >= GRAM;
}

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

/**
 * Selects the ids of licenses that may have the text in holder or e-mail address: all that have it, and others.
 * @param terms entries of the index that stand for a text too short to have one
 */
export function wordsQuery(dialect: Dialect, text: string, terms: readonly string[] = []): Condition {
  if (dialect === 'postgres') {
    return {
      sql: String.raw`SELECT w.id FROM licenses w WHERE w.search_text LIKE $words ESCAPE '\'`,
      bind: { words: likePart(text) },
    };
  }
  if (!hasGrams(text) && terms.length === 0) return { sql: 'SELECT NULL AS id WHERE FALSE', bind: {} };
  return {
    sql: 'SELECT rowid AS id FROM license_words WHERE license_words MATCH $words',
    bind: { words: hasGrams(text) ? allOf(gramsOf(text)) : anyOf(terms) },
  };
}

/** That holder or e-mail address of license `l` has the text. */
export function hasWords(dialect: Dialect, { text }: LicenseSearch): Condition {
  if (text === null) return { sql: 'FALSE', bind: {} };
  return dialect === 'postgres'
    ? { sql: String.raw`l.search_text LIKE $text ESCAPE '\'`, bind: { text: likePart(text) } }
    : { sql: 'instr(l.search_text, $text) > 0', bind: { text } };
}

/** Selects the ids of licenses with the key, or with a part of it or of a device's fingerprint; null if it can be neither. */
export function codesQuery(
  dialect: Dialect,
  { key, keyPart, fingerprintPart }: LicenseSearch,
): Condition | null {
  const queries: string[] = [];
  const bind: Record<string, string> = {};
  if (key !== null) {
    queries.push('SELECT k.id FROM licenses k WHERE k.license_key = $key');
    bind['key'] = key;
  }
  if (keyPart !== null) {
    queries.push(
      dialect === 'postgres'
        ? `SELECT k.id FROM licenses k WHERE replace(k.license_key, '-', '') LIKE '%' || $keyPart || '%'`
        : `SELECT k.id FROM license_key_chunks c CROSS JOIN licenses k ON k.id = c.rowid
           WHERE license_key_chunks MATCH $keyChunks AND instr(replace(k.license_key, '-', ''), $keyPart) > 0`,
    );
    bind['keyPart'] = keyPart;
    bind['keyChunks'] = chunksOf(keyPart, KEY_STRIDE);
  }
  if (fingerprintPart !== null) {
    queries.push(
      dialect === 'postgres'
        ? `SELECT a.license_id AS id FROM activations a WHERE a.machine_fingerprint LIKE '%' || $fingerprintPart || '%'`
        : `SELECT a.license_id AS id FROM fingerprint_chunks c CROSS JOIN activations a ON a.id = c.rowid
           WHERE fingerprint_chunks MATCH $fingerprintChunks AND instr(a.machine_fingerprint, $fingerprintPart) > 0`,
    );
    bind['fingerprintPart'] = fingerprintPart;
    bind['fingerprintChunks'] = chunksOf(fingerprintPart, FINGERPRINT_STRIDE);
  }
  return queries.length === 0 ? null : { sql: queries.join(' UNION '), bind };
}
