import type { Sequelize } from 'sequelize';
import { readForLater } from '#server/database/list-source.ts';
import { sqlOf } from '#server/database/sql.ts';

/** A stored CRL without its document. Times are epoch milliseconds. */
export interface RevocationListRow {
  number: number;
  /** The authority that signed it; another certificate of the same key may have another name. */
  authorityId: number;
  authorityKey: string;
  builtAt: number;
  thisUpdate: number;
  nextUpdate: number;
  /** Certificates that expired before this are left out, unless no earlier CRL contained them. */
  endedBefore: number;
}

type Contents = Pick<RevocationListRow, 'number' | 'authorityKey' | 'endedBefore'>;

/** A revoked certificate, encoded for the CRL in DER and in JSON. */
interface NewEntry {
  /** Null if a restore has lost the certificate. */
  certificateId: number | null;
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
 * Runs before the read: an entry that another server commits between the two statements is then left for the next CRL,
 * neither marked nor missed.
 */
const MARK_LISTED = `
  UPDATE revocation_entries SET first_listed_in = $number
  WHERE first_listed_in IS NULL AND authority_key = $authorityKey`;

const LISTED = `WHERE first_listed_in <= $number AND authority_key = $authorityKey
  AND (not_after >= $endedBefore OR first_listed_in = $number)`;

/** A certificate that had ended before it was revoked: it leaves the CRL again with the next one. */
const HAS_PASSING = `
  SELECT 1 AS "found" FROM revocation_entries
  WHERE first_listed_in = $number AND authority_key = $authorityKey AND not_after < $endedBefore LIMIT 1`;

const COUNT_LISTED = `SELECT count(*) AS "count" FROM revocation_entries ${LISTED}`;

/**
 * Concatenated by the database: one row per entry would be ten times slower. Order does not matter. A certificate that
 * was revoked after it expired still appears in one CRL.
 */
const entries = (column: 'der_hex' | 'json', separator: '' | ',', where = LISTED) => `
  SELECT coalesce(string_agg(${column}, '${separator}'), '') AS "text" FROM revocation_entries ${where}`;

const FIRST_LISTED = 'WHERE first_listed_in = $number AND authority_key = $authorityKey';

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
  const unlisted = sql.statement(HAS_UNLISTED);
  const isUnlisted = sql.statement(IS_UNLISTED);
  const json = sql.statement<{ text: string }>(entries('json', ','));
  const derHex = sql.statement<{ text: string }>(entries('der_hex', ''));
  const newDerHex = sql.statement<{ text: string }>(entries('der_hex', '', FIRST_LISTED));
  const passing = sql.statement(HAS_PASSING);
  let counted: { list: Contents; count: number } | null = null;

  return {
    /** Adds an entry for a revoked certificate. No CRL contains it yet. */
    async insertEntry(entry: NewEntry): Promise<void> {
      await insertEntry.run({ ...entry });
    },
    newest: (): Promise<RevocationListRow | null> => newest.first(),
    /** @returns null if a newer CRL has replaced it */
    der: async (number: number): Promise<Buffer | null> => (await document.first({ number }))?.der ?? null,
    /** The entries of the CRL as a JSON array. */
    json: async (list: Contents): Promise<string> => `[${(await json.first({ ...list }))?.text ?? ''}]`,
    /** Reads every entry, once for each CRL: what it contains does not change. */
    async countListed(list: Contents): Promise<number> {
      if (counted?.list.number !== list.number || counted.list.authorityKey !== list.authorityKey) {
        const row = await readForLater(() => sql.selectFirst<{ count: number }>(COUNT_LISTED, { ...list }));
        counted = { list, count: row?.count ?? 0 };
      }
      return counted.count;
    },
    hasUnlisted: async (authorityKey: string): Promise<boolean> =>
      (await unlisted.first({ authorityKey })) !== null,
    /** Whether a revoked certificate is missing from the CRL. */
    isUnlisted: async (certificateId: number, authorityKey: string): Promise<boolean> =>
      (await isUnlisted.first({ certificateId, authorityKey })) !== null,
    /** Whether the CRL has entries that the next one must not have, even if it leaves out no more ended certificates. */
    hasPassing: async (list: Contents): Promise<boolean> => (await passing.first({ ...list })) !== null,
    /**
     * Marks the entries that are new in the CRL.
     * @returns concatenated DER elements: its entries, or only the new ones
     */
    async collectEntries(list: Contents, which: 'all' | 'new'): Promise<Buffer> {
      await sql.run(MARK_LISTED, { ...list });
      const statement = which === 'all' ? derHex : newDerHex;
      return Buffer.from((await statement.first({ ...list }))?.text ?? '', 'hex');
    },
    /**
     * Until the transaction ends, no other server builds a CRL. Two that went on from the same one would mark each other's new
     * entries as listed, and leave them out.
     */
    lock: (): Promise<void> => sql.lockTable('revocation_lists'),
    /** Replaces all earlier CRLs. */
    async replace(list: RevocationListRow, der: Buffer): Promise<void> {
      await sql.run(INSERT, { ...list, der });
      await sql.run('DELETE FROM revocation_lists WHERE number < $number', { number: list.number });
    },
    /** After a restore: the next CRL is built immediately, with a number above all that were used. */
    async skipNumbers(least: number, ahead: number, builtBefore: number): Promise<void> {
      await sql.run(SKIP_NUMBERS, { least, ahead, builtBefore });
    },
  };
}

export type RevocationListStore = ReturnType<typeof createRevocationListStore>;
