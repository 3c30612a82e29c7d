// Which licenses a list shows: one page of ids, or their number, among a million and within a tenth of a second.
import { QueryTypes, type Sequelize } from 'sequelize';
import { dialectOf } from '#server/database/connect.ts';
import { type Condition, facetConditions, type LicenseFilter, termRange } from './license-query.ts';
import { type LicenseSearch, parseSearch } from '#server/rules/license-search.ts';
import { codesQuery, hasGrams, hasWords, wordsQuery } from './license-search-index.ts';

export type LicenseSort = 'created' | 'expires' | 'holder';

/** An order of licenses, in which no two are alike: by the sort, then by id. */
export interface LicenseSequence {
  sort: LicenseSort;
  order: 'asc' | 'desc';
}

/** Keyset paging: where the last page ended. */
export interface LicensePosition {
  id: number;
  /** `expires_at` of that license, in that order only: it may have changed since. */
  expiresAt?: number | undefined;
}

/** So many are sorted in less time than a common text takes to be found in the order asked for, if it is far down. */
const RARE = 40_000;
/** Of what may have the text, so many of the newest are looked at before it is asked how many there are. */
const NEWEST = 1000;
/** A short text that so few of the newest licenses have is looked up, any other one comes up soon enough. */
const SAMPLE = 5000;
const RARE_IN_SAMPLE = 50;

/** How a search finds licenses. */
interface Found {
  /** Selects the ids of all that may have the text; null if they are so many that passing over the others is quicker. */
  words: Condition | null;
  /** That license `l` has it. */
  text: Condition;
  /** Selects the ids of those with the code; null if it can be none. */
  codes: Condition | null;
}

/** SQLite keeps no statistics to choose by, so it is told. */
const WALKS: Record<LicenseSort, string> = {
  created: 'INDEXED BY licenses_newest',
  expires: 'INDEXED BY licenses_expiry',
  holder: 'INDEXED BY licenses_holder',
};

function joined(conditions: readonly Condition[]): string {
  return conditions.map(({ sql }) => `(${sql})`).join(' AND ') || '1 = 1';
}

function bindOf(...conditions: readonly (Condition | null)[]): Record<string, unknown> {
  return Object.assign({}, ...conditions.map((condition) => condition?.bind)) as Record<string, unknown>;
}

/** With the values that the SQL names: SQLite refuses others. */
function pruned({ sql, bind }: Condition): Condition {
  const named = new Set([...sql.matchAll(/\$(\w+)/gu)].map(([, name]) => name));
  return { sql, bind: Object.fromEntries(Object.entries(bind).filter(([name]) => named.has(name))) };
}

export function createLicenseFinder(sequelize: Sequelize) {
  const dialect = dialectOf(sequelize);
  const isSqlite = dialect === 'sqlite';
  const select = <Row extends object>(query: Condition) => {
    const { sql, bind } = pruned(query);
    return sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });
  };

  /** @param from a FROM clause, with what follows it */
  async function countUpTo(most: number, { sql: from, bind }: Condition): Promise<number> {
    const sql = `SELECT count(*) AS "count" FROM (SELECT 1 ${from} LIMIT $most) bounded`;
    const [row] = await select<{ count: number }>({ sql, bind: { ...bind, most } });
    return row?.count ?? 0;
  }

  /** What a sort compares, of license `alias`; null where ids are all. */
  function keyOf(sort: LicenseSort, alias: string): string | null {
    if (sort === 'created') return null;
    if (sort === 'expires') return `${alias}.expires_at`;
    return isSqlite ? `${alias}.search_text` : `left(${alias}.search_text, 200) COLLATE "C"`;
  }

  function orderBy({ sort, order }: LicenseSequence): string {
    const key = keyOf(sort, 'l');
    return `ORDER BY ${key === null ? '' : `${key} ${order}, `}l.id ${order}`;
  }

  /** @param idColumn what the ids are read from, in that order. @returns what is to be met beside the facets */
  function isBeyond(
    { sort, order }: LicenseSequence,
    after: LicensePosition | null,
    idColumn = 'l.id',
  ): Condition[] {
    if (after === null) return [];
    const { id, expiresAt } = after;
    const beyond = order === 'asc' ? '>' : '<';
    const bind = { afterId: id, afterExpiry: expiresAt };
    if (sort === 'created') return [{ sql: `${idColumn} ${beyond} $afterId`, bind }];
    if (sort === 'expires') return [{ sql: `(l.expires_at, l.id) ${beyond} ($afterExpiry, $afterId)`, bind }];
    // The cursor does not carry the name, which may be longer than a cursor; a license keeps its holder.
    const last = `(SELECT ${keyOf(sort, 'k')} FROM licenses k WHERE k.id = $afterId)`;
    return [{ sql: `(${keyOf(sort, 'l')}, l.id) ${beyond} (${last}, $afterId)`, bind }];
  }

  /** The entries of the index of words which begin with a text that is too short for one; null if they are many. */
  async function termsOf(text: string): Promise<string[] | null> {
    const words = hasWords(dialect, { text, key: null, keyPart: null, fingerprintPart: null });
    const sample = '(SELECT n.search_text FROM licenses n ORDER BY n.id DESC LIMIT $sample) l';
    const found = await countUpTo(RARE_IN_SAMPLE, {
      sql: `FROM ${sample} WHERE ${words.sql}`,
      bind: { ...words.bind, sample: SAMPLE },
    });
    if (found === RARE_IN_SAMPLE) return null;
    const rows = await select<{ term: string }>({
      sql: 'SELECT term FROM license_word_terms WHERE term >= $text AND term < $end',
      bind: { text, end: `${text}\u{10ffff}` },
    });
    return rows.map(({ term }) => term);
  }

  /** What selects the licenses that may have the words; null if they are so many that passing over the others is quicker. */
  async function rareWords({ text }: LicenseSearch): Promise<Condition | null> {
    if (text === null) return wordsQuery(dialect, '');
    const terms = isSqlite && !hasGrams(text) ? await termsOf(text) : [];
    if (terms === null) return null;
    const words = wordsQuery(dialect, text, terms);
    const found = await countUpTo(RARE + 1, { sql: `FROM (${words.sql}) found`, bind: words.bind });
    return found > RARE ? null : words;
  }

  /** Few licenses between two moments are sooner read by their ends and sorted than met in another order. */
  async function walkFor(filter: LicenseFilter, sort: LicenseSort): Promise<string> {
    const range = isSqlite && sort !== 'expires' ? termRange(filter) : null;
    if (range === null) return WALKS[sort];
    const from = { sql: `FROM licenses l ${WALKS.expires} WHERE ${range.sql}`, bind: range.bind };
    return (await countUpTo(RARE + 1, from)) > RARE ? WALKS[sort] : WALKS.expires;
  }

  async function lookFor(search: string): Promise<Found> {
    const parsed = parseSearch(search);
    return {
      words: await rareWords(parsed),
      text: hasWords(dialect, parsed),
      codes: codesQuery(dialect, parsed),
    };
  }

  /** @param walk how SQLite reads the table where the search does not say which licenses to look at */
  function fromClause(facets: readonly Condition[], walk: string, found: Found | null): Condition {
    const hint = isSqlite ? walk : '';
    if (!found) return { sql: `FROM licenses l ${hint} WHERE ${joined(facets)}`, bind: bindOf(...facets) };
    const { words, text, codes } = found;
    const bind = bindOf(...facets, text, codes, words);
    if (words === null) {
      const either = codes === null ? text.sql : `${text.sql} OR l.id IN (${codes.sql})`;
      return { sql: `FROM licenses l ${hint} WHERE ${joined(facets)} AND (${either})`, bind };
    }
    const coded = codes === null ? '' : `UNION ALL SELECT id, 1 AS coded FROM (${codes.sql}) codes`;
    // Whoever is found by its words is not found by a code once more.
    return {
      sql: `FROM (SELECT id, 0 AS coded FROM (${words.sql}) words ${coded}) f
        ${isSqlite ? 'CROSS JOIN licenses l NOT INDEXED' : 'JOIN licenses l'} ON l.id = f.id
        WHERE ${joined(facets)} AND (f.coded = 1) <> (${text.sql})`,
      bind,
    };
  }

  /**
   * By id, SQLite's index of words gives them in order: whoever wants the first page reads no more licenses than that,
   * while a sort would first have read every one that may have the text.
   */
  function pageById(
    filter: LicenseFilter,
    { words, text, codes }: Found & { words: Condition },
    sequence: LicenseSequence,
    after: LicensePosition | null,
    limit: number,
  ): Condition {
    const { order } = sequence;
    const facets = [...facetConditions(filter), ...isBeyond(sequence, after, 'f.id')];
    const first = (ids: Condition, also: string) =>
      `SELECT id FROM (SELECT f.id AS id FROM (${ids.sql}) f CROSS JOIN licenses l NOT INDEXED ON l.id = f.id
        WHERE ${joined(facets)} AND ${also} ORDER BY f.id ${order} LIMIT $limit)`;
    const ways = [first(words, text.sql), ...(codes === null ? [] : [first(codes, 'TRUE')])];
    const sql = `SELECT id FROM (${ways.join(' UNION ')}) ORDER BY id ${order} LIMIT $limit`;
    return pruned({ sql, bind: { ...bindOf(...facets, text, codes, words), limit } });
  }

  return {
    orderBy,
    /**
     * Selects what `page` does for a first page of the newest, if that many are among the first that may have the text;
     * fewer, if not. Null where that is not worth a try.
     */
    soon(filter: LicenseFilter, sequence: LicenseSequence, limit: number): Condition | null {
      const { sort, order } = sequence;
      if (!isSqlite || sort !== 'created' || !filter.search) return null;
      const search = parseSearch(filter.search);
      const { text } = search;
      // What is found by a code may be older than the first that may have the text, and newer than others that have it.
      if (text === null || !hasGrams(text) || codesQuery(dialect, search) !== null) return null;
      const { sql, bind } = wordsQuery(dialect, text);
      const words = {
        sql: `${sql} ORDER BY rowid ${order} LIMIT $newest`,
        bind: { ...bind, newest: NEWEST },
      };
      const found = { words, text: hasWords(dialect, search), codes: null };
      return pageById(filter, found, sequence, null, limit);
    },
    /** Selects the column `id` of up to `limit` licenses. */
    async page(
      filter: LicenseFilter,
      sequence: LicenseSequence,
      after: LicensePosition | null,
      limit: number,
    ): Promise<Condition> {
      const { sort } = sequence;
      const found = filter.search ? await lookFor(filter.search) : null;
      if (isSqlite && sort === 'created' && found?.words)
        return pageById(filter, { ...found, words: found.words }, sequence, after, limit);
      const facets = [...facetConditions(filter), ...isBeyond(sequence, after)];
      const from = fromClause(facets, await walkFor(filter, sort), found);
      const sql = `SELECT l.id AS id ${from.sql} ${orderBy(sequence)} LIMIT $limit`;
      return pruned({ sql, bind: { ...from.bind, limit } });
    },
    /** How many there are, but no more than `most`. */
    async count(filter: LicenseFilter, most: number): Promise<number> {
      const walk = await walkFor(filter, filter.search ? 'holder' : 'expires');
      const found = filter.search ? await lookFor(filter.search) : null;
      return countUpTo(most, fromClause(facetConditions(filter), walk, found));
    },
  };
}
