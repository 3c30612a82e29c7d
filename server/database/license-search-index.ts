// SQL that finds licenses by parts of their texts, with the indices of migration 0003 on SQLite.
import type { Condition } from './condition.ts';
import type { Values } from './named-values.ts';

/** What a search text may mean, other than words of its texts. */
interface Codes {
  key: string | null;
  keyPart: string | null;
  fingerprintPart: string | null;
}

/** Reads from the database. */
export interface SearchReads {
  select<Row extends object>(text: string, values: Values): Promise<Row[]>;
  selectFirst<Row extends object>(text: string, values: Values): Promise<Row | null>;
}

/** Selects IDs of licenses. */
export interface Candidates extends Condition {
  /** The same as a condition on license `l`, where it saves reading each license twice. */
  on?: Condition;
}

export interface LicenseSearchIndex {
  /** Whether IDs are selected in order, so that the first matches are found without reading all of them. */
  isOrdered: boolean;
  /** Selects, in that order, the IDs of all licenses with the words, and possibly others; null if it cannot. */
  inOrder(words: readonly string[]): Condition | null;
  /**
   * Selects the IDs of all licenses with the words in their texts, and possibly others; null if there are so many that
   * skipping the others is faster.
   */
  rare(words: readonly string[], reads: SearchReads): Promise<Candidates | null>;
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

/** All words, each with its own value. @param test the condition for one value */
export function eachWord(
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

export function codesBy(partQueries: PartQueries): LicenseSearchIndex['codes'] {
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

/** Sorting this many is faster than walking the requested order when matches are far down. */
export const RARE = 40_000;
/**
 * A short word is looked up in the index only if it is this rare among the newest licenses. Otherwise a walk finds it
 * soon enough.
 */
const SAMPLE = 5000;
const RARE_IN_SAMPLE = 50;

/** The longest word if it is too short for the index, and with it all others; otherwise null. */
function shortWord(words: readonly string[]): string | null {
  const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
  return isShort(longest) ? longest : null;
}

const hasWords: LicenseSearchIndex['hasWords'] = (words, prefix = 'word') =>
  eachWord(words, prefix, (value) => `instr(l.search_text, ${value}) > 0`);

const matching = (tokens: string): Condition => ({
  sql: 'SELECT rowid AS id FROM license_words WHERE license_words MATCH $words',
  bind: { words: tokens },
});

const withGrams = (words: readonly string[]): Condition =>
  matching(allOf(words.filter((word) => !isShort(word)).flatMap((word) => gramsOf(word))));

async function countUpTo({ selectFirst }: SearchReads, most: number, { sql: from, bind }: Condition) {
  const sql = `SELECT count(*) AS "count" FROM (SELECT 1 ${from} LIMIT $most)`;
  return (await selectFirst<{ count: number }>(sql, { ...bind, most }))?.count ?? 0;
}

/** By the index terms that start with the word; null if many licenses have it. */
async function withTerms(word: string, reads: SearchReads): Promise<Condition | null> {
  const words = hasWords([word]);
  const found = await countUpTo(reads, RARE_IN_SAMPLE, {
    sql: `FROM (SELECT n.search_text FROM licenses n ORDER BY n.id DESC LIMIT $sample) l WHERE ${words.sql}`,
    bind: { ...words.bind, sample: SAMPLE },
  });
  if (found === RARE_IN_SAMPLE) return null;
  const rows = await reads.select<{ term: string }>(
    'SELECT term FROM license_word_terms WHERE term >= $text AND term < $end',
    { text: word, end: `${word}\u{10ffff}` },
  );
  return rows.length === 0 ? NO_LICENSES : matching(anyOf(rows.map(({ term }) => term)));
}

export const SQLITE_SEARCH: LicenseSearchIndex = {
  isOrdered: true,
  inOrder: (words) => (shortWord(words) === null ? withGrams(words) : null),
  async rare(words, reads) {
    const short = shortWord(words);
    const found = short === null ? withGrams(words) : await withTerms(short, reads);
    if (found === null) return null;
    const count = await countUpTo(reads, RARE + 1, { sql: `FROM (${found.sql}) found`, bind: found.bind });
    return count > RARE ? null : found;
  },
  hasWords,
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
