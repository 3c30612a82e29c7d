import { QueryTypes, type Sequelize } from 'sequelize';
import { preparedQuery } from '../database/prepared-query.ts';
import { lockRow, skipLocked } from '../database/transaction.ts';
import { graceEndsAt } from './license-lifecycle.ts';
import { defineLicense, type LicenseRow } from './license-model.ts';
import { LICENSE_COLUMNS, LICENSE_TABLES, searchCondition, stateCondition } from './license-query.ts';

/** A license as everything else sees it: its own row, what its plan grants, and what its devices say. */
export interface License extends Omit<LicenseRow, 'searchText'> {
  plan: string;
  tier: number;
  durationDays: number;
  graceDays: number;
  maxActivations: number | null;
  features: string[];
  graceEndsAt: number;
  activationCount: number;
  newestFingerprint: string | null;
}

/** By id, by key, or by both, which then have to name the same license. */
export interface LicenseReference {
  id?: number | undefined;
  /** In its canonical form. */
  key?: string | undefined;
}

export interface LicenseFilter {
  state: string | undefined;
  search: string | undefined;
  /** Keyset paging: ids below this one. */
  before: number | null;
  limit: number;
  now: number;
}

type SelectedRow = Omit<License, 'features' | 'graceEndsAt'> & { features: string };

function toLicense(row: SelectedRow): License {
  return {
    ...row,
    features: JSON.parse(row.features) as string[],
    graceEndsAt: graceEndsAt(row.expiresAt, row.graceDays),
  };
}

export function createLicenseStore(sequelize: Sequelize) {
  const licenses = defineLicense(sequelize);
  const query = preparedQuery(sequelize);

  async function select(condition: string, bind: Record<string, unknown>, suffix = ''): Promise<License[]> {
    const rows = await sequelize.query<SelectedRow>(
      `SELECT ${LICENSE_COLUMNS} FROM ${LICENSE_TABLES} WHERE ${condition} ${suffix}`,
      { bind, type: QueryTypes.SELECT },
    );
    return rows.map((row) => toLicense(row));
  }

  function columnsOf({ id, key }: LicenseReference): Record<string, string | number> {
    if (id === undefined && key === undefined) throw new Error('a license is named by its id or its key');
    return { ...(id === undefined ? {} : { id }), ...(key === undefined ? {} : { license_key: key }) };
  }

  async function find(reference: LicenseReference): Promise<License | null> {
    const columns = columnsOf(reference);
    const condition = Object.keys(columns).map((column, index) => `l.${column} = $${index + 1}`);
    const sql = `SELECT ${LICENSE_COLUMNS} FROM ${LICENSE_TABLES} WHERE ${condition.join(' AND ')}`;
    const [row] = await query<SelectedRow>(sql, Object.values(columns));
    return row ? toLicense(row) : null;
  }

  return {
    find,
    /** Locks the license until the transaction ends, so that what is decided from it still holds when it is written. */
    async findForChange(reference: LicenseReference): Promise<License | null> {
      await lockRow(sequelize, 'licenses', columnsOf(reference));
      return find(reference);
    },
    async insert(license: Omit<LicenseRow, 'id'>): Promise<number> {
      const created = await licenses.create(license);
      return created.get('id') as number;
    },
    async update(id: number, changes: Partial<Omit<LicenseRow, 'id'>>): Promise<void> {
      await licenses.update(changes, { where: { id } });
    },
    /** Newest first, one more than `limit` if there are more. */
    list({ state, search, before, limit, now }: LicenseFilter): Promise<License[]> {
      const conditions = [
        before === null ? null : { sql: 'l.id < $before', bind: { before } },
        state === undefined ? null : stateCondition(state, now),
        search ? searchCondition(search) : null,
      ].filter((condition) => condition !== null);
      const sql = conditions.map((condition) => `(${condition.sql})`).join(' AND ') || '1 = 1';
      const bind = Object.assign(
        { limit: limit + 1 },
        ...conditions.map((condition) => condition.bind),
      ) as object;
      return select(sql, bind as Record<string, unknown>, 'ORDER BY l.id DESC LIMIT $limit');
    },
    /** Licenses that the scan has to look at, the longest waiting first; locked, and skipped where another server has them. */
    findNoticeDue: (now: number, limit: number) =>
      select(
        'l.notice_due_at <= $now',
        { now, limit },
        `ORDER BY l.notice_due_at LIMIT $limit ${skipLocked(sequelize, 'l')}`,
      ),
  };
}

export type LicenseStore = ReturnType<typeof createLicenseStore>;
