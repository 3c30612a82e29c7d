import type { Sequelize } from 'sequelize';
import { preparedQuery } from '../database/prepared-query.ts';

/** A stored list without its documents. Moments are epoch milliseconds. */
export interface RevocationListRow {
  number: number;
  authorityKey: string;
  builtAt: number;
  thisUpdate: number;
  nextUpdate: number;
}

export interface RevocationListDocuments {
  der: Buffer;
  /** The `revoked` of the JSON reply. */
  json: string;
}

const NEWEST = `
  SELECT number AS "number", authority_key AS "authorityKey", built_at AS "builtAt", this_update AS "thisUpdate",
    next_update AS "nextUpdate"
  FROM revocation_lists ORDER BY number DESC LIMIT 1`;

const DOCUMENTS = 'SELECT der AS "der", json AS "json" FROM revocation_lists WHERE number = $1';

const HAS_UNLISTED = `
  SELECT 1 AS "found" FROM revocation_entries WHERE first_listed_in IS NULL AND authority_key = $1 LIMIT 1`;

/**
 * Ahead of reading: an entry that another server commits between the two statements is then neither marked nor missed,
 * but left for the next list.
 */
const MARK_LISTED = `
  UPDATE revocation_entries SET first_listed_in = $1 WHERE first_listed_in IS NULL AND authority_key = $2`;

/** One text each, put together by the database: a row apiece would cost ten times as much. */
const ENTRIES = `
  SELECT coalesce(string_agg(der_hex, '' ORDER BY id), '') AS "derHex",
    coalesce(string_agg(json, ',' ORDER BY id), '') AS "json"
  FROM revocation_entries WHERE first_listed_in IS NOT NULL AND authority_key = $1 AND not_after >= $2`;

const INSERT = `
  INSERT INTO revocation_lists (number, authority_key, built_at, this_update, next_update, der, json)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

export function createRevocationListStore(sequelize: Sequelize) {
  const query = preparedQuery(sequelize);
  return {
    async newest(): Promise<RevocationListRow | null> {
      const [row] = await query<RevocationListRow>(NEWEST, []);
      return row ?? null;
    },
    /** @returns null if a newer list has taken its place */
    async documents(number: number): Promise<RevocationListDocuments | null> {
      const [row] = await query<RevocationListDocuments>(DOCUMENTS, [number]);
      return row ?? null;
    },
    async hasUnlisted(authorityKey: string): Promise<boolean> {
      return (await query(HAS_UNLISTED, [authorityKey])).length > 0;
    },
    /**
     * Marks what the list `number` is the first to have, and reads all that it has.
     * @param endedBefore certificates that ended before this moment are left out
     */
    async collectEntries(
      number: number,
      authorityKey: string,
      endedBefore: number,
    ): Promise<{ der: Buffer; json: string }> {
      await query(MARK_LISTED, [number, authorityKey]);
      const [row] = await query<{ derHex: string; json: string }>(ENTRIES, [authorityKey, endedBefore]);
      return { der: Buffer.from(row?.derHex ?? '', 'hex'), json: `[${row?.json ?? ''}]` };
    },
    /** The new list takes the place of all before it. */
    async replace(list: RevocationListRow & RevocationListDocuments): Promise<void> {
      const { number, authorityKey, builtAt, thisUpdate, nextUpdate, der, json } = list;
      await query(INSERT, [number, authorityKey, builtAt, thisUpdate, nextUpdate, der, json]);
      await query('DELETE FROM revocation_lists WHERE number < $1', [number]);
    },
  };
}

export type RevocationListStore = ReturnType<typeof createRevocationListStore>;
