import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

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

/** A revoked certificate as the list has it: in DER and in JSON. */
interface NewEntry {
  certificateId: number;
  authorityKey: string;
  notAfter: number;
  derHex: string;
  json: string;
}

const INSERT_ENTRY = `
  INSERT INTO revocation_entries (certificate_id, authority_key, not_after, der_hex, json)
  VALUES ($certificateId, $authorityKey, $notAfter, $derHex, $json)`;

const NEWEST = `
  SELECT number AS "number", authority_id AS "authorityId", authority_key AS "authorityKey", built_at AS "builtAt",
    this_update AS "thisUpdate", next_update AS "nextUpdate", ended_before AS "endedBefore"
  FROM revocation_lists ORDER BY number DESC LIMIT 1`;

const HAS_UNLISTED = `
  SELECT 1 AS "found" FROM revocation_entries WHERE first_listed_in IS NULL AND authority_key = $authorityKey LIMIT 1`;

const IS_UNLISTED = `
  SELECT 1 AS "found" FROM revocation_entries
  WHERE certificate_id = $certificateId AND authority_key = $authorityKey AND first_listed_in IS NULL`;

/**
 * Ahead of reading: an entry that another server commits between the two statements is then neither marked nor missed,
 * but left for the next list.
 */
const MARK_LISTED = `
  UPDATE revocation_entries SET first_listed_in = $number
  WHERE first_listed_in IS NULL AND authority_key = $authorityKey`;

const LISTED = `WHERE first_listed_in <= $number AND authority_key = $authorityKey
  AND (not_after >= $endedBefore OR first_listed_in = $number)`;

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
  VALUES ($number, $authorityId, $authorityKey, $builtAt, $thisUpdate, $nextUpdate, $endedBefore, $der)`;

const SKIP_NUMBERS = `
  UPDATE revocation_lists
  SET number = CASE WHEN number > $least THEN number ELSE $least END + $ahead,
    built_at = CASE WHEN built_at < $builtBefore THEN built_at ELSE $builtBefore END`;

export function createRevocationListStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const insertEntry = sql.statement(INSERT_ENTRY);
  const newest = sql.statement<RevocationListRow>(NEWEST);
  const document = sql.statement<{ der: Buffer }>(
    'SELECT der AS "der" FROM revocation_lists WHERE number = $number',
  );
  const countListed = sql.statement<{ count: number }>(COUNT_LISTED);
  const unlisted = sql.statement(HAS_UNLISTED);
  const isUnlisted = sql.statement(IS_UNLISTED);
  const json = sql.statement<{ text: string }>(entries('json', ','));
  const derHex = sql.statement<{ text: string }>(entries('der_hex', ''));

  return {
    /** A certificate that has been revoked; it is on no list yet. */
    async insertEntry(entry: NewEntry): Promise<void> {
      await insertEntry.run({ ...entry });
    },
    newest: (): Promise<RevocationListRow | null> => newest.first(),
    /** @returns null if a newer list has taken its place */
    der: async (number: number): Promise<Buffer | null> => (await document.first({ number }))?.der ?? null,
    /** What is on the list, as a JSON array. */
    json: async (list: Contents): Promise<string> => `[${(await json.first({ ...list }))?.text ?? ''}]`,
    countListed: async (list: Contents): Promise<number> =>
      (await countListed.first({ ...list }))?.count ?? 0,
    hasUnlisted: async (authorityKey: string): Promise<boolean> =>
      (await unlisted.first({ authorityKey })) !== null,
    /** Whether a revoked certificate is on no list yet. */
    isUnlisted: async (certificateId: number, authorityKey: string): Promise<boolean> =>
      (await isUnlisted.first({ certificateId, authorityKey })) !== null,
    /** Marks what the list is the first to have, and reads all that is on it: DER, one element behind the other. */
    async collectEntries(list: Contents): Promise<Buffer> {
      await sql.run(MARK_LISTED, { ...list });
      return Buffer.from((await derHex.first({ ...list }))?.text ?? '', 'hex');
    },
    /** The new list takes the place of all before it. */
    async replace(list: RevocationListRow, der: Buffer): Promise<void> {
      await sql.run(INSERT, { ...list, der });
      await sql.run('DELETE FROM revocation_lists WHERE number < $number', { number: list.number });
    },
    /** After a restore: the next list is built at once, and its number is beyond all that were given out. */
    async skipNumbers(least: number, ahead: number, builtBefore: number): Promise<void> {
      await sql.run(SKIP_NUMBERS, { least, ahead, builtBefore });
    },
  };
}

export type RevocationListStore = ReturnType<typeof createRevocationListStore>;
