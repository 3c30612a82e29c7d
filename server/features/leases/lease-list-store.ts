// Lists leases for administrators.
import type { Sequelize } from 'sequelize';
import { allOf, given } from '#server/database/condition.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { LeaseState } from './lease-contract.ts';
import type { ListedLease } from './lease-presenter.ts';
import { LEASE_COLUMNS } from './lease-row.ts';

interface LeaseFilter {
  licenseId?: number | undefined;
  userKey?: string | undefined;
  hostKey?: string | undefined;
  state?: LeaseState | 'live' | undefined;
  /** Only leases with a lower ID. */
  before?: number | undefined;
  id?: number | undefined;
}

const CONDITIONS = {
  licenseId: 'e.license_id = $licenseId',
  userKey: 'e.user_key = $userKey',
  hostKey: 'e.host_key = $hostKey',
  before: 'e.id < $before',
  id: 'e.id = $id',
};

const POSITION = `CASE WHEN e.state = 'queued' THEN (
  SELECT count(*) FROM leases q WHERE q.license_id = e.license_id AND q.state = 'queued' AND q.id <= e.id) END`;

export function createLeaseListStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    /** Newest first. Returns one more than `limit` if there are more. */
    list({ state, ...filter }: LeaseFilter, limit: number): Promise<ListedLease[]> {
      const ofState =
        state === 'live'
          ? [{ sql: 'e.ended_at IS NULL', bind: {} }]
          : given({ state: 'e.state = $state' }, { state });
      const where = allOf([...given(CONDITIONS, { ...filter }), ...ofState]);
      return sql.select<ListedLease>(
        `SELECT ${LEASE_COLUMNS}, l.license_key AS "licenseKey", l.holder AS "holder", ${POSITION} AS "position"
         FROM leases e JOIN licenses l ON l.id = e.license_id
         WHERE ${where.sql} ORDER BY e.id DESC LIMIT $limit`,
        { ...where.bind, limit: limit + 1 },
      );
    },
  };
}

export type LeaseListStore = ReturnType<typeof createLeaseListStore>;
