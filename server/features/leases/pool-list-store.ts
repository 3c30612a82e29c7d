// Lists the pools of all floating licenses, those under most pressure first.
import type { Sequelize } from 'sequelize';
import { GRACE_ENDS_AT } from '#server/database/grace-period.ts';
import { allOf, type Condition, given, likePart } from '#server/database/condition.ts';
import { sqlOf } from '#server/database/sql.ts';
import { parseLicenseKey } from '#server/rules/license-key.ts';
import { foldForSearch } from '#server/wire/search-text.ts';

export interface ListedPool {
  id: number;
  licenseKey: string;
  holder: string;
  product: string;
  plan: string;
  expiresAt: number;
  graceEndsAt: number;
  firstActivatedAt: number | null;
  revokedAt: number | null;
  /** Null: unlimited. */
  seats: number | null;
  overdraftSeats: number;
  inUse: number;
  borrowed: number;
  queued: number;
  /** Grows with the share of seats that are taken or waited for; 0 if they are unlimited. */
  pressure: number;
  /** Refusals since the given hour. */
  denied: number;
}

/** A pool whose seats are nearly all taken. */
export interface BusyPool {
  id: number;
  holder: string;
  inUse: number;
  seats: number;
  /** How many such pools there are. */
  total: number;
}

interface PoolFilter {
  licenseId?: number | undefined;
  search?: string | undefined;
  plan?: string | undefined;
  product?: string | undefined;
  /** Only pools with at least this share of their seats in use. */
  minPercent?: number | undefined;
}

const SEATS = 'coalesce(l.own_seats, p.seats)';
const TAKEN = 'coalesce(o.in_use, 0)';
/** Millionths, so that it is a whole number on both databases. */
const PRESSURE = `CASE WHEN ${SEATS} IS NULL THEN 0
  ELSE 1 + (${TAKEN} + coalesce(o.queued, 0)) * 1000000 / ${SEATS} END`;

const CONDITIONS = {
  licenseId: 'l.id = $licenseId',
  plan: 'p.name = $plan',
  product: 'l.product = $product',
  minPercent: `${TAKEN} * 100 >= $minPercent * ${SEATS}`,
};

/** A license key, or a part of the holder's name or email address. */
function searched(search: string | undefined): Condition[] {
  if (!search) return [];
  const key = parseLicenseKey(search);
  if (key !== null) return [{ sql: 'l.license_key = $searchKey', bind: { searchKey: key } }];
  const part = likePart(foldForSearch(search));
  return [{ sql: String.raw`l.search_text LIKE $part ESCAPE '\'`, bind: { part } }];
}

export function createPoolListStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    /**
     * The fullest first, after `after`. Returns one more than `limit` if there are more.
     * @param deniedSince epoch milliseconds
     */
    list(
      { search, ...filter }: PoolFilter,
      after: { pressure: number; id: number } | null,
      deniedSince: number,
      limit: number,
    ): Promise<ListedPool[]> {
      const beyond: Condition[] =
        after === null
          ? []
          : [
              {
                sql: 'pressure < $afterPressure OR (pressure = $afterPressure AND id > $afterId)',
                bind: { afterPressure: after.pressure, afterId: after.id },
              },
            ];
      const where = allOf([
        { sql: `p.licensing = 'floating'`, bind: {} },
        ...given(CONDITIONS, { ...filter }),
        ...searched(search),
      ]);
      const page = allOf(beyond);
      return sql.select<ListedPool>(
        `SELECT f.*, (SELECT coalesce(CAST(sum(u.denied) AS BIGINT), 0) FROM lease_usage u
             WHERE u.license_id = f.id AND u.hour >= $deniedSince) AS "denied"
         FROM (
           SELECT l.id AS "id", l.license_key AS "licenseKey", l.holder AS "holder", l.product AS "product",
             p.name AS "plan", l.expires_at AS "expiresAt", ${GRACE_ENDS_AT} AS "graceEndsAt",
             l.first_activated_at AS "firstActivatedAt", l.revoked_at AS "revokedAt", ${SEATS} AS "seats", coalesce(l.own_overdraft_seats, p.overdraft_seats) AS "overdraftSeats",
             ${TAKEN} AS "inUse", coalesce(o.borrowed, 0) AS "borrowed", coalesce(o.queued, 0) AS "queued",
             ${PRESSURE} AS "pressure"
           FROM plans p JOIN licenses l ON l.plan_id = p.id LEFT JOIN lease_pools o ON o.license_id = l.id
           WHERE ${where.sql}
         ) f WHERE ${page.sql} ORDER BY "pressure" DESC, "id" LIMIT $limit`,
        { ...where.bind, ...page.bind, deniedSince, limit: limit + 1 },
      );
    },

    /** The fullest first. Reads only pools in use. @param minPercent share of the seats that are taken */
    listBusy: (minPercent: number, limit: number): Promise<BusyPool[]> =>
      sql.select<BusyPool>(
        `SELECT l.id AS "id", l.holder AS "holder", o.in_use AS "inUse", ${SEATS} AS "seats",
           CAST(count(*) OVER () AS INTEGER) AS "total"
         FROM lease_pools o JOIN licenses l ON l.id = o.license_id JOIN plans p ON p.id = l.plan_id
         WHERE o.in_use > 0 AND p.licensing = 'floating' AND ${CONDITIONS.minPercent}
         ORDER BY ${PRESSURE} DESC, l.id LIMIT $limit`,
        { minPercent, limit },
      ),
  };
}

export type PoolListStore = ReturnType<typeof createPoolListStore>;
