import type { Sequelize } from 'sequelize';
import { preparedQuery } from '#server/database/prepared-query.ts';

/** A stored list without its document. Moments are epoch milliseconds. */
export interface RevocationListRow {
  number: number;
  /** By whose name it is signed; another certificate of the same key may have another name. */
  authorityId: number;
  authorityKey: string;
  builtAt: number;
  thisUpdate: number;
  nextUpdate: number;
  /** Certificates that ended before this are not on it, unless it is the first to have them. */
  endedBefore: number;
}

type Contents = Pick<RevocationListRow, 'number' | 'authorityKey' | 'endedBefore'>;

const NEWEST = `
  SELECT number AS "number", authority_id AS "authorityId", authority_key AS "authorityKey", built_at AS "builtAt",
    this_update AS "thisUpdate", next_update AS "nextUpdate", ended_before AS "endedBefore"
  FROM revocation_lists ORDER BY number DESC LIMIT 1`;

const HAS_UNLISTED = `
  SELECT 1 AS "found" FROM revocation_entries WHERE first_listed_in IS NULL AND authority_key = $1 LIMIT 1`;

const IS_UNLISTED = `
  SELECT 1 AS "found" FROM revocation_entries
  WHERE certificate_id = $1 AND authority_key = $2 AND first_listed_in IS NULL`;

/**
 * Ahead of reading: an entry that another server commits between the two statements is then neither marked nor missed,
 * but left for the next list.
 */
const MARK_LISTED = `
  UPDATE revocation_entries SET first_listed_in = $1 WHERE first_listed_in IS NULL AND authority_key = $2`;

const LISTED =
  'WHERE first_listed_in <= $1 AND authority_key = $2 AND (not_after >= $3 OR first_listed_in = $1)';

const COUNT_LISTED = `SELECT count(*) AS "count" FROM revocation_entries ${LISTED}`;

/**
 * One text, put together by the database: a row apiece would cost ten times as much. Their order means nothing. What
 * was revoked after its end is on one list all the same.
 */
const entries = (column: 'der_hex' | 'json', separator: '' | ',') => `
  SELECT coalesce(string_agg(${column}, '${separator}'), '') AS "text" FROM revocation_entries ${LISTED}`;

const INSERT = `
  INSERT INTO revocation_lists
    (number, authority_id, authority_key, built_at, this_update, next_update, ended_before, der)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

export function createRevocationListStore(sequelize: Sequelize) {
  const query = preparedQuery(sequelize);

  async function collect(sql: string, { number, authorityKey, endedBefore }: Contents): Promise<string> {
    const [row] = await query<{ text: string }>(sql, [number, authorityKey, endedBefore]);
    return row?.text ?? '';
  }

  return {
    async newest(): Promise<RevocationListRow | null> {
      const [row] = await query<RevocationListRow>(NEWEST, []);
      return row ?? null;
    },
    /** @returns null if a newer list has taken its place */
    async der(number: number): Promise<Buffer | null> {
      const sql = 'SELECT der AS "der" FROM revocation_lists WHERE number = $1';
      const [row] = await query<{ der: Buffer }>(sql, [number]);
      return row?.der ?? null;
    },
    /** What is on the list, as a JSON array. */
    json: async (list: Contents): Promise<string> => `[${await collect(entries('json', ','), list)}]`,
    async countListed({ number, authorityKey, endedBefore }: Contents): Promise<number> {
      const [row] = await query<{ count: number }>(COUNT_LISTED, [number, authorityKey, endedBefore]);
      return row?.count ?? 0;
    },
    async hasUnlisted(authorityKey: string): Promise<boolean> {
      return (await query(HAS_UNLISTED, [authorityKey])).length > 0;
    },
    /** Whether a revoked certificate is on no list yet. */
    async isUnlisted(certificateId: number, authorityKey: string): Promise<boolean> {
      return (await query(IS_UNLISTED, [certificateId, authorityKey])).length > 0;
    },
    /** Marks what the list is the first to have, and reads all that is on it: DER, one element behind the other. */
    async collectEntries(list: Contents): Promise<Buffer> {
      await query(MARK_LISTED, [list.number, list.authorityKey]);
      return Buffer.from(await collect(entries('der_hex', ''), list), 'hex');
    },
    /** The new list takes the place of all before it. */
    async replace(list: RevocationListRow, der: Buffer): Promise<void> {
      const { number, authorityId, authorityKey, builtAt, thisUpdate, nextUpdate, endedBefore } = list;
      const moments = [builtAt, thisUpdate, nextUpdate, endedBefore];
      await query(INSERT, [number, authorityId, authorityKey, ...moments, der]);
      await query('DELETE FROM revocation_lists WHERE number < $1', [number]);
    },
  };
}

export type RevocationListStore = ReturnType<typeof createRevocationListStore>;
