// SQL that finds licenses by parts of their texts on PostgreSQL, with the indices of `search-indices.ts`.
import { type Condition, likePart } from './condition.ts';
import { codesBy, eachWord, type LicenseSearchIndex } from './license-search-index.ts';
import { hasIndex } from './search-indices.ts';

/** Reads about one thousand of a million licenses, from all over the table. */
const SAMPLE = 'licenses l TABLESAMPLE SYSTEM (0.1)';
/** Above this share of all licenses, a walk finds enough of them sooner than an index finds all. */
const RARE_SHARE = 0.002;
/** So few in the sample say nothing. */
const CHANCE = 2;

/** A part that the index of trigrams covers in any language of the database. */
const TRIGRAM = /[0-9a-z]{3}/u;

/** The characters of a word that are looked up: pairs, or the only one. */
function piecesOf(word: string): string[] {
  const characters = [...word];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

interface Sampled {
  matches: number;
  sampled: number;
  hasTrigrams: boolean;
  hasPieces: boolean;
}

/** Conditions on license `l` that an index answers, if one has any of the words. Each license is checked for the others. */
function indexed(words: readonly string[], { hasTrigrams, hasPieces }: Sampled): Condition {
  const byTrigrams = hasTrigrams ? words.filter((word) => TRIGRAM.test(word)) : [];
  if (byTrigrams.length > 0 || !hasPieces)
    return hasWords(byTrigrams.length > 0 ? byTrigrams : words, 'part');
  // PostgreSQL has no texts with a NUL.
  const pieces = new Set(words.flatMap((word) => piecesOf(word)).filter((piece) => !piece.includes('\0')));
  return {
    sql: 'search_pieces(l.search_text) COLLATE "C" @> CAST($pieces AS TEXT[])',
    bind: { pieces: [...pieces] },
  };
}

const hasWords: LicenseSearchIndex['hasWords'] = (words, prefix = 'word') =>
  eachWord(words, prefix, (value) => String.raw`l.search_text LIKE ${value} ESCAPE '\'`, likePart);

/** Otherwise PostgreSQL would read the whole table for the first few, because it takes any part for common. */
const all = (select: string) => `(${select} OFFSET 0)`;

export const POSTGRES_SEARCH: LicenseSearchIndex = {
  isOrdered: false,
  inOrder: () => null,
  async rare(words, { selectFirst }) {
    const matches = hasWords(words);
    const found = await selectFirst<Sampled>(
      `SELECT count(*) FILTER (WHERE ${matches.sql}) AS "matches", count(*) AS "sampled",
         ${hasIndex('licenses_words')} AS "hasTrigrams", ${hasIndex('licenses_pieces')} AS "hasPieces"
       FROM ${SAMPLE}`,
      matches.bind,
    );
    if (found === null || found.matches > Math.max(CHANCE, found.sampled * RARE_SHARE)) return null;
    const on = indexed(words, found);
    return { sql: `SELECT l.id FROM licenses l WHERE ${on.sql}`, bind: on.bind, on };
  },
  hasWords,
  codes: codesBy({
    key: (suffix) =>
      all(
        `SELECT k.id FROM licenses k WHERE replace(k.license_key, '-', '') LIKE '%' || $keyPart${suffix} || '%'`,
      ),
    fingerprint: (suffix) =>
      all(`SELECT a.license_id AS id FROM activations a
        WHERE a.machine_fingerprint LIKE '%' || $fingerprintPart${suffix} || '%'`),
  }),
};
