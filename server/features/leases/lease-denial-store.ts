import type { Sequelize } from 'sequelize';
import { insertValues, selectList } from '#server/database/column-lists.ts';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { allOf, given } from '#server/database/condition.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { DenialCode } from './lease-admin-contract.ts';

export interface DenialRow {
  id: number;
  licenseId: number;
  createdAt: number;
  errorCode: DenialCode;
  ruleId: number | null;
  rule: string | null;
  instanceId: string;
  userName: string | null;
  userKey: string | null;
  host: string | null;
  hostKey: string | null;
  address: string | null;
  machineFingerprint: string | null;
  feature: string | null;
  units: number;
  /** JSON. */
  pool: string;
  /** JSON. */
  holders: string;
  holderCount: number;
}

export interface ListedDenial extends DenialRow {
  licenseKey: string;
  holder: string;
}

interface DenialFilter {
  licenseId?: number | undefined;
  userKey?: string | undefined;
  hostKey?: string | undefined;
  errorCode?: DenialCode | undefined;
  /** Epoch milliseconds. */
  from?: number | undefined;
  to?: number | undefined;
  /** Only older ones. */
  before?: number | undefined;
}

/** The newest of each license, and of all. */
const KEPT_PER_LICENSE = 1000;
const KEPT_IN_TOTAL = 100_000;

const COLUMNS: Record<Exclude<keyof DenialRow, 'id'>, string> = {
  licenseId: 'license_id',
  createdAt: 'created_at',
  errorCode: 'error_code',
  ruleId: 'rule_id',
  rule: 'rule',
  instanceId: 'instance_id',
  userName: 'user_name',
  userKey: 'user_key',
  host: 'host',
  hostKey: 'host_key',
  address: 'address',
  machineFingerprint: 'machine_fingerprint',
  feature: 'feature',
  units: 'units',
  pool: 'pool',
  holders: 'holders',
  holderCount: 'holder_count',
};
const CONDITIONS = {
  licenseId: 'd.license_id = $licenseId',
  userKey: 'd.user_key = $userKey',
  hostKey: 'd.host_key = $hostKey',
  errorCode: 'd.error_code = $errorCode',
  from: 'd.created_at >= $from',
  to: 'd.created_at < $to',
  before: 'd.id < $before',
};

export function createLeaseDenialStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const insert = sql.statement(`INSERT INTO lease_denials ${insertValues(COLUMNS)}`);
  const prune = sql.statement(`
    DELETE FROM lease_denials WHERE license_id = $licenseId AND id <= (
      SELECT k.id FROM lease_denials k WHERE k.license_id = $licenseId ORDER BY k.id DESC LIMIT 1 OFFSET $kept)`);
  const pruneAll = sql.statement(`
    DELETE FROM lease_denials WHERE id <= (
      SELECT k.id FROM lease_denials k ORDER BY k.id DESC LIMIT 1 OFFSET $kept)`);
  return {
    async insert(denial: Omit<DenialRow, 'id'>): Promise<void> {
      await insert.run({ ...denial });
    },
    /** Removes the oldest above the bounds. */
    async prune(licenseIds: readonly number[]): Promise<void> {
      for (const licenseId of licenseIds) await prune.run({ licenseId, kept: KEPT_PER_LICENSE });
      await pruneAll.run({ kept: KEPT_IN_TOTAL });
    },
    /** Newest first. Returns one more than `limit` if there are more. */
    list(filter: DenialFilter, limit: number): Promise<ListedDenial[]> {
      const where = allOf(given(CONDITIONS, { ...filter }));
      return sql.select<ListedDenial>(
        `SELECT d.id AS "id", ${selectList(COLUMNS, 'd')}, l.license_key AS "licenseKey", l.holder AS "holder"
         FROM lease_denials d JOIN licenses l ON l.id = d.license_id
         WHERE ${where.sql} ORDER BY d.id DESC LIMIT $limit`,
        { ...where.bind, limit: limit + 1 },
      );
    },
    removeOld: removeOldest(sql, 'lease_denials', 'created_at'),
  };
}

export type LeaseDenialStore = ReturnType<typeof createLeaseDenialStore>;
