import type { Sequelize } from 'sequelize';
import { insertValues, selectList } from '#server/database/column-lists.ts';
import { allOf, type Condition, given } from '#server/database/condition.ts';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { DenialReason } from './denial-reason-contract.ts';
import type { DeniedCallName } from './denied-call-contract.ts';

/** Equal calls of a UTC day. Texts that the calls did not send are empty. */
export interface DeniedCallRow {
  licenseId: number;
  day: string;
  call: DeniedCallName;
  errorCode: DenialReason;
  machineFingerprint: string;
  product: string;
  feature: string;
  address: string;
  count: number;
  firstAt: number;
  lastAt: number;
}

export interface ListedDeniedCall extends DeniedCallRow {
  id: number;
  licenseKey: string;
  holder: string;
}

interface DeniedCallFilter {
  licenseId?: number | undefined;
  errorCode?: DenialReason | undefined;
  /** Epoch milliseconds. */
  from?: number | undefined;
}

/** The last call of the previous page. */
export interface DeniedCallPosition {
  lastAt: number;
  id: number;
}

const COLUMNS: Record<keyof DeniedCallRow, string> = {
  licenseId: 'license_id',
  day: 'day',
  call: 'call',
  errorCode: 'error_code',
  machineFingerprint: 'machine_fingerprint',
  product: 'product',
  feature: 'feature',
  address: 'address',
  count: 'count',
  firstAt: 'first_at',
  lastAt: 'last_at',
};
const CONDITIONS = {
  licenseId: 'd.license_id = $licenseId',
  errorCode: 'd.error_code = $errorCode',
  from: 'd.last_at >= $from',
};

/** The latest of each license, and of all. */
const KEPT_PER_LICENSE = 100;
const KEPT_IN_TOTAL = 100_000;
/** More than a write can add. */
const PRUNED_AT_ONCE = 5000;

export function createDeniedCallStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const add = sql.statement(`
    INSERT INTO denied_calls ${insertValues(COLUMNS)}
    ON CONFLICT (license_id, day, call, error_code, machine_fingerprint, product, feature, address)
    DO UPDATE SET count = denied_calls.count + excluded.count, last_at = excluded.last_at`);
  const pruneLicense = sql.statement(`
    DELETE FROM denied_calls WHERE id IN (
      SELECT k.id FROM denied_calls k WHERE k.license_id = $licenseId
      ORDER BY k.last_at DESC, k.id DESC LIMIT ${PRUNED_AT_ONCE} OFFSET ${KEPT_PER_LICENSE})`);
  const pruneAll = sql.statement(`
    DELETE FROM denied_calls WHERE id IN (
      SELECT k.id FROM denied_calls k
      ORDER BY k.last_at DESC, k.id DESC LIMIT ${PRUNED_AT_ONCE} OFFSET ${KEPT_IN_TOTAL})`);

  return {
    async add(calls: DeniedCallRow): Promise<void> {
      await add.run({ ...calls });
    },
    async pruneLicense(licenseId: number): Promise<void> {
      await pruneLicense.run({ licenseId });
    },
    async pruneAll(): Promise<void> {
      await pruneAll.run({});
    },
    /** Latest first, after `after`. Returns one more than `limit` if there are more. */
    list(
      filter: DeniedCallFilter,
      after: DeniedCallPosition | null,
      limit: number,
    ): Promise<ListedDeniedCall[]> {
      const beyond: Condition[] =
        after === null
          ? []
          : [{ sql: '(d.last_at, d.id) < ($lastAt, $id)', bind: { lastAt: after.lastAt, id: after.id } }];
      const where = allOf([...given(CONDITIONS, { ...filter }), ...beyond]);
      return sql.select<ListedDeniedCall>(
        `SELECT d.id AS "id", ${selectList(COLUMNS, 'd')}, l.license_key AS "licenseKey", l.holder AS "holder"
         FROM denied_calls d JOIN licenses l ON l.id = d.license_id
         WHERE ${where.sql} ORDER BY d.last_at DESC, d.id DESC LIMIT $limit`,
        { ...where.bind, limit: limit + 1 },
      );
    },
    /** @param day UTC */
    async countOf(day: string): Promise<{ calls: number; licenses: number }> {
      const row = await sql.selectFirst<{ calls: number; licenses: number }>(
        `SELECT CAST(coalesce(sum(d.count), 0) AS BIGINT) AS "calls", count(DISTINCT d.license_id) AS "licenses"
         FROM denied_calls d WHERE d.last_at >= $from AND d.day = $day`,
        { from: Date.parse(day), day },
      );
      return row ?? { calls: 0, licenses: 0 };
    },
    removeOld: removeOldest(sql, 'denied_calls', 'last_at'),
  };
}

export type DeniedCallStore = ReturnType<typeof createDeniedCallStore>;
