import type { Sequelize } from 'sequelize';
import { LONGEST_GRACE_MS } from '#server/database/grace-period.ts';
import type { Condition } from '#server/database/condition.ts';
import type { Values } from '#server/database/named-values.ts';
import { sqlOf } from '#server/database/sql.ts';
import { createLicenseFinder, type LicensePosition, type LicenseSequence } from './license-finder-store.ts';
import { type FloatingTerms, floatingTerms } from '#server/rules/floating-terms.ts';
import type { License, LicenseReference, NewLicense } from '#server/rules/license.ts';
import type { CustomFields } from '#server/wire/custom-fields.ts';
import { graceEndsAt } from '#server/rules/license-lifecycle.ts';
import { defineLicense } from './license-model.ts';
import { LICENSE_COLUMNS, LICENSE_TABLES, LISTED_COLUMNS, type LicenseFilter } from './license-query.ts';

/** A license in a list. */
export interface ListedLicense extends License {
  /** Null unless the license is floating. */
  seatsInUse: number | null;
}

export type LicenseChanges = Partial<NewLicense>;

/** One page of a list. */
export interface LicensePageRequest extends LicenseFilter, LicenseSequence {
  after: LicensePosition | null;
  limit: number;
}

type SelectedRow = Omit<License, 'customFields' | 'features' | 'graceEndsAt' | 'terms'> & {
  customFields: string;
  features: string;
} & FloatingTerms;

const NO_FIELDS: CustomFields = {};

/** Most licenses have none. */
function toCustomFields(json: string): CustomFields {
  return json === '{}' ? NO_FIELDS : (JSON.parse(json) as CustomFields);
}

function toRow({ customFields, ...license }: NewLicense) {
  return { ...license, customFields: JSON.stringify(customFields) };
}

function toLicense(row: SelectedRow): License {
  const { seats, leaseSeconds, countBy, overdraftSeats, ...others } = row;
  const { borrowMaxHours, borrowMaxCount, borrowKeepFree, lingerSeconds, ...license } = others;
  const borrowing = { borrowMaxHours, borrowMaxCount, borrowKeepFree, lingerSeconds };
  return {
    ...license,
    terms: floatingTerms({ seats, leaseSeconds, countBy, overdraftSeats, ...borrowing }, row),
    customFields: toCustomFields(row.customFields),
    features: JSON.parse(row.features) as string[],
    graceEndsAt: graceEndsAt(row.expiresAt, row.graceDays),
  };
}

const KEYS_AT_ONCE = 100;

const HAS_PLAN = 'SELECT 1 AS "found" FROM licenses WHERE plan_id = $planId LIMIT 1';

const MOVE_GRACE_END = `
  UPDATE licenses
  SET notice_due_at = CASE WHEN notice_due_at IS NULL THEN expires_at ELSE expires_at + $graceMs END
  WHERE plan_id = $planId AND revoked_at IS NULL
    AND (notice_due_at > expires_at OR (notice_due_at IS NULL AND expires_at + $graceMs > $now))`;

/** When a license's next notice is due; null if none is to come. */
export interface NoticeDue {
  id: number;
  /** Epoch milliseconds. */
  at: number | null;
}

const NOTICE_DUE = { id: 'BIGINT', at: 'BIGINT' } as const;

const setNoticesDue = (readById: string, due: string) => `
  UPDATE licenses ${readById} SET notice_due_at = due.at FROM ${due} WHERE licenses.id = due.id`;

export function createLicenseStore(sequelize: Sequelize) {
  const licenses = defineLicense(sequelize);
  const sql = sqlOf(sequelize);
  const { isIn, jsonRows, lockRows, orderedJoin, readById, skipLocked } = sql.dialect;
  const finder = createLicenseFinder(sql);
  const insertAll = sql.insertAll(licenses, ['id', 'licenseKey']);
  const noticesDue = sql.statement(setNoticesDue(readById, jsonRows('notices', 'due', NOTICE_DUE)));
  const update = sql.update(licenses);
  const withKeys = sql.statement<{ licenseKey: string }>(
    `SELECT license_key AS "licenseKey" FROM licenses WHERE ${isIn('license_key', 'some')}`,
  );
  const findWhere = (condition: string) =>
    sql.statement<SelectedRow>(`SELECT ${LICENSE_COLUMNS} FROM ${LICENSE_TABLES} WHERE ${condition}`);
  const byId = findWhere('l.id = $id');
  const byKey = findWhere('l.license_key = $key');
  const byBoth = findWhere('l.id = $id AND l.license_key = $key');
  const oneByKey = {
    columns: LICENSE_COLUMNS,
    from: `${LICENSE_TABLES} WHERE l.license_key = $key`,
    values: (key: string) => ({ key }),
  };
  const keyLookup = sql.batched<string, SelectedRow>(oneByKey);
  const firstByKey = sql.batchedFirst<string, SelectedRow>(oneByKey);

  async function select(tables: string, rest: string, bind: Values): Promise<License[]> {
    const rows = await sql.select<SelectedRow>(`SELECT ${LICENSE_COLUMNS} FROM ${tables} ${rest}`, bind);
    return rows.map((row) => toLicense(row));
  }

  /** @param page SQL that selects the IDs */
  async function selectPage(page: Condition, sequence: LicenseSequence): Promise<ListedLicense[]> {
    // Without this join order, SQLite might walk all licenses in the order of the list.
    const tables = `(${page.sql}) page ${orderedJoin} licenses l ON l.id = page.id JOIN plans p ON p.id = l.plan_id`;
    const rows = await sql.select<SelectedRow & Pick<ListedLicense, 'seatsInUse'>>(
      `SELECT ${LISTED_COLUMNS} FROM ${tables} ${finder.orderBy(sequence)}`,
      page.bind,
    );
    return rows.map((row) => ({ ...toLicense(row), seatsInUse: row.seatsInUse }));
  }

  function columnsOf({ id, key }: LicenseReference): Record<string, string | number> {
    return { ...(id === undefined ? {} : { id }), ...(key === undefined ? {} : { license_key: key }) };
  }

  async function find({ id, key }: LicenseReference): Promise<License | null> {
    if (id === undefined && key === undefined) throw new Error('a license reference needs an ID or a key');
    const statement = key === undefined ? byId : id === undefined ? byKey : byBoth;
    const [row] = await statement.all({ id, key });
    return row ? toLicense(row) : null;
  }

  return {
    find,
    /** Outside transactions: calls that arrive together share one statement. @param key in canonical form */
    async lookUp(key: string): Promise<License | null> {
      const row = await keyLookup(key);
      return row && toLicense(row);
    },
    /**
     * Locks the license until the transaction ends, so that a decision based on it is still true when it is written.
     */
    async findForChange(reference: LicenseReference): Promise<License | null> {
      await sql.lock('licenses', columnsOf(reference));
      return find(reference);
    },
    /** The same as the first read of a change that changes no other license. */
    async findFirst(reference: LicenseReference): Promise<License | null> {
      await sql.lock('licenses', columnsOf(reference));
      const { id, key } = reference;
      if (id !== undefined || key === undefined) return find(reference);
      const row = await firstByKey(key);
      return row && toLicense(row);
    },
    async insert(license: NewLicense): Promise<number> {
      const created = await licenses.create(toRow(license));
      return created.get('id') as number;
    },
    /** Inserts many licenses. @returns their IDs, in the same order */
    async insertAll(drafts: readonly NewLicense[]): Promise<number[]> {
      const rows = await insertAll(drafts.map((draft) => toRow(draft)));
      const ids = new Map(rows.map(({ id, licenseKey }) => [licenseKey, id]));
      return drafts.map(({ licenseKey }) => ids.get(licenseKey) as number);
    },
    /** Returns those of the keys that existing licenses use. */
    async findTakenKeys(keys: readonly string[]): Promise<string[]> {
      const taken: string[] = [];
      for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
        const rows = await withKeys.all({ some: keys.slice(start, start + KEYS_AT_ONCE) });
        taken.push(...rows.map(({ licenseKey }) => licenseKey));
      }
      return taken;
    },
    update: (id: number, { customFields, ...changes }: LicenseChanges): Promise<void> =>
      update(
        id,
        customFields === undefined ? changes : { ...changes, customFields: JSON.stringify(customFields) },
      ),
    async setNoticesDue(notices: readonly NoticeDue[]): Promise<void> {
      await noticesDue.run({ notices: JSON.stringify(notices) });
    },
    /** The names of all custom fields, sorted. */
    async listFieldNames(): Promise<string[]> {
      const rows = await sql.select<{ name: string }>(
        `SELECT DISTINCT f.key AS "name" FROM licenses l, ${sql.dialect.jsonFields('l.custom_fields')} f
         WHERE l.custom_fields <> '{}'`,
      );
      return rows.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b, 'en'));
    },
    /** Whether any license uses the plan. */
    hasPlan: async (planId: number): Promise<boolean> =>
      (await sql.selectFirst(HAS_PLAN, { planId })) !== null,
    /**
     * Licenses waiting for the end of their grace period get the new end. Those past the old end that are in grace
     * again are scanned again.
     */
    async moveGraceEnd(planId: number, graceMs: number, now: number): Promise<void> {
      await sql.run(MOVE_GRACE_END, { planId, graceMs, now });
    },
    /** In the requested order. Returns one more than `limit` if there are more. */
    async list({ sort, order, after, limit, ...filter }: LicensePageRequest): Promise<ListedLicense[]> {
      const sequence = { sort, order };
      const soon = after === null ? await finder.soon(filter, sequence, limit + 1) : null;
      const first = soon ? await selectPage(soon, sequence) : [];
      if (first.length > limit) return first;
      return selectPage(await finder.page(filter, sequence, after, limit + 1), sequence);
    },
    count: finder.count,
    /**
     * Valid licenses whose grace period ends after `from` and whose term ends by `to`, ordered by expiry and locked.
     * @param after the last license of the previous page
     */
    listExpiringBetween: (
      from: number,
      to: number,
      after: { expiresAt: number; id: number },
      limit: number,
    ) =>
      select(
        LICENSE_TABLES,
        `WHERE l.revoked_at IS NULL
           AND l.expires_at > $from - ${LONGEST_GRACE_MS}
           AND l.expires_at <= $to AND (l.expires_at, l.id) > ($afterExpiry, $afterId)
         ORDER BY l.expires_at, l.id LIMIT $limit ${lockRows('l')}`,
        { from, to, afterExpiry: after.expiresAt, afterId: after.id, limit },
      ),
    /**
     * Licenses that are due for the scan, longest overdue first. Locks them, and skips those that another server has
     * locked, or whose plan is being changed: the scan would schedule their next notice by the old grace period, and
     * the change would miss it.
     */
    findNoticeDue: (now: number, limit: number) =>
      select(
        LICENSE_TABLES,
        `WHERE l.notice_due_at <= $now ORDER BY l.notice_due_at LIMIT $limit ${skipLocked('l', 'p')}`,
        { now, limit },
      ),
  };
}

export type LicenseStore = ReturnType<typeof createLicenseStore>;
