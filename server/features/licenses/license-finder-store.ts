// Finds the licenses of a list: one page of IDs, or their number, in a tenth of a second among a million.
import { allOf, bindOf, type Condition } from '#server/database/condition.ts';
import { type Candidates, NO_LICENSES, RARE } from '#server/database/license-search-index.ts';
import type { Sql } from '#server/database/sql.ts';
import { type LicenseCode, type LicenseSearch, parseSearch } from '#server/rules/license-search.ts';
import { facetConditions, type LicenseFilter, termRange } from './license-query.ts';

export type LicenseSort = 'created' | 'expires' | 'holder';

/** A total order of licenses: by the sort key, then by ID. */
export interface LicenseSequence {
  sort: LicenseSort;
  order: 'asc' | 'desc';
}

/** Keyset paging: the last license of the previous page. */
export interface LicensePosition {
  id: number;
  /** `expires_at` of that license, when sorting by it: it may have changed since. */
  expiresAt?: number | undefined;
}

/** This many of the newest candidates are tried before counting all candidates. */
const NEWEST = 1000;
/** So many licenses are walked for a common word before PostgreSQL chooses another way. */
const WALKED = 50_000;

/** How a search finds licenses. */
interface Found {
  /** Selects the IDs of all candidates; null if there are so many that skipping the others is faster. */
  words: Candidates | null;
  /** Checks that license `l` has the words. */
  text: Condition;
  /** Selects the IDs of licenses with one of the codes; null if no license has any of them. */
  codes: Condition | null;
}

/** The index that has each sort order. */
const WALKS: Record<LicenseSort, string> = {
  created: 'licenses_newest',
  expires: 'licenses_expiry',
  holder: 'licenses_holder',
};

export function createLicenseFinder(database: Sql) {
  const { dialect, selectFirst } = database;
  const search = dialect.licenseSearch;

  /** @param from a FROM clause and what follows it */
  async function countUpTo(most: number, { sql: from, bind }: Condition): Promise<number> {
    const sql = `SELECT count(*) AS "count" FROM (SELECT 1 ${from} LIMIT $most) bounded`;
    return (await selectFirst<{ count: number }>(sql, { ...bind, most }))?.count ?? 0;
  }

  /** The sort key of license `alias`; null when sorting by ID. */
  function keyOf(sort: LicenseSort, alias: string): string | null {
    if (sort === 'created') return null;
    if (sort === 'expires') return `${alias}.expires_at`;
    return dialect.sortKey(`${alias}.search_text`);
  }

  function orderBy({ sort, order }: LicenseSequence): string {
    const key = keyOf(sort, 'l');
    return `ORDER BY ${key === null ? '' : `${key} ${order}, `}l.id ${order}`;
  }

  /** @param idColumn where the IDs are read from, in that order @returns the conditions in addition to the facets */
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
    // The cursor has no name, which may be longer than a cursor can be; the license itself supplies it.
    const last = `(SELECT ${keyOf(sort, 'k')} FROM licenses k WHERE k.id = $afterId)`;
    return [{ sql: `(${keyOf(sort, 'l')}, l.id) ${beyond} (${last}, $afterId)`, bind }];
  }

  /** A few licenses between two times are read by expiry and sorted faster than by walking another order. */
  async function walkFor(filter: LicenseFilter, sort: LicenseSort): Promise<string> {
    const range = sort === 'expires' ? null : termRange(filter);
    if (range === null) return dialect.indexedBy(WALKS[sort]);
    return dialect.indexedByBest(WALKS[sort], WALKS.expires, async () => {
      const sql = `FROM licenses l ${dialect.indexedBy(WALKS.expires)} WHERE ${range.sql}`;
      return (await countUpTo(RARE + 1, { sql, bind: range.bind })) <= RARE;
    });
  }

  function hasText({ words }: LicenseSearch): Condition {
    return words === null ? { sql: 'FALSE', bind: {} } : search.hasWords(words);
  }

  function withCode(code: LicenseCode, index: number): Condition {
    const { sql, bind } = search.codes(code, String(index));
    if (code.words.length === 0) return { sql: `SELECT id FROM (${sql}) c${index}`, bind };
    const others = search.hasWords(code.words, `other${index}_`);
    return {
      sql: `SELECT l.id AS id FROM (${sql}) c${index} ${dialect.orderedJoin} licenses l ${dialect.readById}
        ON l.id = c${index}.id WHERE ${others.sql}`,
      bind: { ...bind, ...others.bind },
    };
  }

  /** Almost any word may be part of a key. Few are, and the others must not slow the search down. */
  async function anyCoded({ codes }: LicenseSearch): Promise<Condition | null> {
    const real: Condition[] = [];
    for (const [index, code] of codes.entries()) {
      const found = withCode(code, index);
      if ((await countUpTo(1, { sql: `FROM (${found.sql}) found`, bind: found.bind })) > 0) real.push(found);
    }
    if (real.length === 0) return null;
    return { sql: real.map(({ sql }) => sql).join(' UNION '), bind: bindOf(...real) };
  }

  async function lookFor(searchFor: string): Promise<Found> {
    const parsed = parseSearch(searchFor);
    const { words } = parsed;
    return {
      words: words === null ? NO_LICENSES : await search.rare(words, database),
      text: hasText(parsed),
      codes: await anyCoded(parsed),
    };
  }

  /** Checks license `l` without an index. */
  const withEither = ({ text, codes }: Found): Condition => ({
    sql: codes === null ? text.sql : `${text.sql} OR l.id IN (${codes.sql})`,
    bind: bindOf(text, codes),
  });

  /** @param walk how to read the table when the search does not select IDs */
  function fromClause(facets: readonly Condition[], walk: string, found: Found | null): Condition {
    const facet = allOf(facets);
    if (!found) return { sql: `FROM licenses l ${walk} WHERE ${facet.sql}`, bind: facet.bind };
    const { words, text, codes } = found;
    const bind = bindOf(facet, text, codes, words);
    if (words === null)
      return { sql: `FROM licenses l ${walk} WHERE ${facet.sql} AND (${withEither(found).sql})`, bind };
    if (words.on && codes === null) {
      // In a separate subquery, so that PostgreSQL does not walk the table in the order of the list instead.
      const all = allOf([words.on, text, ...facets]);
      return { sql: `FROM (SELECT l.* FROM licenses l WHERE ${all.sql} OFFSET 0) l`, bind };
    }
    const coded = codes === null ? '' : `UNION ALL SELECT id, 1 AS coded FROM (${codes.sql}) codes`;
    // A license found by its words must not be returned again for its code.
    return {
      sql: `FROM (SELECT id, 0 AS coded FROM (${words.sql}) words ${coded}) f
        ${dialect.orderedJoin} licenses l ${dialect.readById} ON l.id = f.id
        WHERE ${facet.sql} AND (f.coded = 1) <> (${text.sql})`,
      bind,
    };
  }

  /**
   * When sorting by ID, an ordered word index returns IDs in order, so the first page reads only as many licenses as it
   * shows.
   * A sort would first read every candidate.
   */
  function pageById(
    filter: LicenseFilter,
    { words, text, codes }: Found & { words: Condition },
    sequence: LicenseSequence,
    after: LicensePosition | null,
    limit: number,
  ): Condition {
    const { order } = sequence;
    const facets = allOf([...facetConditions(filter), ...isBeyond(sequence, after, 'f.id')]);
    const first = (ids: Condition, also: string) =>
      `SELECT id FROM (SELECT f.id AS id FROM (${ids.sql}) f
        ${dialect.orderedJoin} licenses l ${dialect.readById} ON l.id = f.id
        WHERE ${facets.sql} AND ${also} ORDER BY f.id ${order} LIMIT $limit)`;
    const ways = [first(words, text.sql), ...(codes === null ? [] : [first(codes, 'TRUE')])];
    const sql = `SELECT id FROM (${ways.join(' UNION ')}) ORDER BY id ${order} LIMIT $limit`;
    return { sql, bind: { ...bindOf(facets, text, codes, words), limit } };
  }

  /**
   * The first of `full` that are near in the order of the list; if there are fewer, `full` itself. PostgreSQL cannot
   * tell how common most parts of words are, and would rather read the whole table.
   */
  function nearFirst(
    full: Condition,
    which: readonly Condition[],
    sequence: LicenseSequence,
    after: LicensePosition | null,
  ): Condition {
    const order = orderBy(sequence);
    const [beyond, all] = [allOf(isBeyond(sequence, after)), allOf(which)];
    const sql = `WITH near AS MATERIALIZED (
        SELECT l.id FROM (SELECT l.* FROM licenses l WHERE ${beyond.sql} ${order} LIMIT ${WALKED}) l
        WHERE ${all.sql} ${order} LIMIT $limit
      ), counted AS (SELECT count(*) AS count FROM near)
      SELECT id FROM near WHERE (SELECT count FROM counted) = $limit
      UNION ALL SELECT id FROM (${full.sql}) later WHERE (SELECT count FROM counted) < $limit`;
    return { sql, bind: bindOf(full, beyond, all) };
  }

  return {
    orderBy,
    /**
     * Selects the same as `page` for a first page by newest, if enough of the newest candidates match; otherwise
     * returns fewer.
     * Null if it is not worth trying.
     */
    async soon(filter: LicenseFilter, sequence: LicenseSequence, limit: number): Promise<Condition | null> {
      const { sort, order } = sequence;
      if (sort !== 'created' || !filter.search) return null;
      const parsed = parseSearch(filter.search);
      const { words: asked } = parsed;
      const candidates = asked === null ? null : search.inOrder(asked);
      if (asked === null || candidates === null) return null;
      // A license found by its code can be older than the newest candidates and newer than other matches.
      if ((await anyCoded(parsed)) !== null) return null;
      const words = {
        sql: `${candidates.sql} ORDER BY rowid ${order} LIMIT $newest`,
        bind: { ...candidates.bind, newest: NEWEST },
      };
      const found = { words, text: search.hasWords(asked), codes: null };
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
      if (search.isOrdered && sort === 'created' && found?.words)
        return pageById(filter, { ...found, words: found.words }, sequence, after, limit);
      const facets = facetConditions(filter);
      const from = fromClause([...facets, ...isBeyond(sequence, after)], await walkFor(filter, sort), found);
      const sql = `SELECT l.id AS id ${from.sql} ${orderBy(sequence)} LIMIT $limit`;
      const full = { sql, bind: { ...from.bind, limit } };
      if (search.isOrdered || found === null || found.words !== null) return full;
      return nearFirst(full, [...facets, withEither(found)], sequence, after);
    },
    /** Counts matches, up to `most`. */
    async count(filter: LicenseFilter, most: number): Promise<number> {
      const walk = await walkFor(filter, filter.search ? 'holder' : 'expires');
      const found = filter.search ? await lookFor(filter.search) : null;
      return countUpTo(most, fromClause(facetConditions(filter), walk, found));
    },
  };
}
