import type { Sequelize } from 'sequelize';
import type { SqlDialect } from '#server/database/sql-dialect.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { Licensing } from '#server/rules/floating-terms.ts';
import { DAY_MS } from '#server/wire/instants.ts';

/** Valid licenses that expire within so many days. */
export interface EndingCounts {
  days7: number;
  days30: number;
  days90: number;
}

/** A valid license that was never activated. */
export interface UnusedLicense {
  id: number;
  licenseKey: string;
  holder: string;
  licensing: Licensing;
}

export interface SoonExpired {
  id: number;
  licenseKey: string;
  holder: string;
  product: string;
  plan: string;
  state: string;
  expiresAt: number;
}

/** Disjoint ranges, so that each license is counted once. */
const COUNT_ENDING = [
  ['days7', '$now', '$in7'],
  ['days30', '$in7', '$in30'],
  ['days90', '$in30', '$in90'],
]
  .map(
    ([name, after, until]) => `
    (SELECT count(*) FROM licenses
     WHERE revoked_at IS NULL AND expires_at > ${after} AND expires_at <= ${until}) AS "${name}"`,
  )
  .join(',');

/**
 * How the number of active licenses changed on each day: first activated, less expired, less revoked. One index range
 * per day and number. A license that expired and was renewed later counts as active throughout.
 */
const activeChanges = ({ indexedBy }: Pick<SqlDialect, 'indexedBy'>): string => `
  WITH RECURSIVE days (day) AS (
    SELECT CAST($first AS BIGINT) UNION ALL SELECT day + 1 FROM days WHERE day < $last
  ), revoked_later AS MATERIALIZED (
    -- Few, and in no index by expiry that has all columns.
    SELECT l.expires_at / ${DAY_MS} AS day, count(*) AS count FROM licenses l ${indexedBy('licenses_revoked')}
    WHERE l.revoked_at IS NOT NULL AND l.revoked_at >= l.expires_at AND l.expires_at <= $now
      AND l.first_activated_at < l.expires_at
    GROUP BY 1
  )
  SELECT day AS "day",
    (SELECT count(*) FROM licenses l
     WHERE l.first_activated_at >= day * ${DAY_MS} AND l.first_activated_at < (day + 1) * ${DAY_MS}
       AND l.expires_at > l.first_activated_at)
    - (SELECT count(*) FROM licenses l
       WHERE l.expires_at >= day * ${DAY_MS} AND l.expires_at < (day + 1) * ${DAY_MS} AND l.expires_at <= $now
         AND l.first_activated_at < l.expires_at AND l.revoked_at IS NULL)
    - coalesce((SELECT r.count FROM revoked_later r WHERE r.day = days.day), 0)
    - (SELECT count(*) FROM licenses l
       WHERE l.revoked_at >= day * ${DAY_MS} AND l.revoked_at < (day + 1) * ${DAY_MS}
         AND l.first_activated_at < l.revoked_at AND l.revoked_at < l.expires_at) AS "change"
  FROM days ORDER BY day`;

interface Needs {
  /** The SQL expression of a license's state, over `l`, `p` and `$now`. */
  licenseState: string;
  /** How long before its end a license is expiring. */
  expiringMs: number;
}

export function createOverviewStore(sequelize: Sequelize, { licenseState, expiringMs }: Needs) {
  const { dialect, select, selectFirst } = sqlOf(sequelize);
  const changes = activeChanges(dialect);

  return {
    async countEnding(now: number): Promise<EndingCounts> {
      const within = (days: number) => now + days * DAY_MS;
      const row = await selectFirst<EndingCounts>(`SELECT ${COUNT_ENDING}`, {
        now,
        in7: within(7),
        in30: within(30),
        in90: within(90),
      });
      const { days7 = 0, days30 = 0, days90 = 0 } = row ?? {};
      return { days7, days30: days7 + days30, days90: days7 + days30 + days90 };
    },

    /** The newest license in the state `issued`. */
    findNewestUnused: (now: number): Promise<UnusedLicense | null> =>
      selectFirst(
        `SELECT l.id AS "id", l.license_key AS "licenseKey", l.holder AS "holder",
           (SELECT p.licensing FROM plans p WHERE p.id = l.plan_id) AS "licensing"
         FROM licenses l ${dialect.indexedBy('licenses_unused')}
         WHERE l.revoked_at IS NULL AND l.first_activated_at IS NULL AND l.expires_at >= $soon
         ORDER BY l.id DESC LIMIT 1`,
        { soon: now + expiringMs },
      ),

    /** The next licenses to expire, soonest first. */
    listSoonExpired: (now: number, limit: number): Promise<SoonExpired[]> =>
      select(
        `SELECT l.id AS "id", l.license_key AS "licenseKey", l.holder AS "holder", l.product AS "product",
           p.name AS "plan", ${licenseState} AS "state", l.expires_at AS "expiresAt"
         FROM licenses l JOIN plans p ON p.id = l.plan_id
         WHERE l.revoked_at IS NULL AND l.expires_at > $now AND l.expires_at <= $until
         ORDER BY l.expires_at, l.id LIMIT $limit`,
        { now, until: now + 90 * DAY_MS, limit },
      ),

    /** Valid licenses that were activated: most are, so the others are counted, each by an index alone. */
    async countActivated(now: number): Promise<number> {
      const row = await selectFirst<{ count: number }>(
        `SELECT ${dialect.kept.rows('licenses')}
           - (SELECT count(*) FROM licenses l ${dialect.indexedBy('licenses_revoked')} WHERE l.revoked_at IS NOT NULL)
           - (SELECT count(*) FROM licenses l ${dialect.indexedBy('licenses_expiry')}
              WHERE l.revoked_at IS NULL AND l.expires_at <= $now)
           - (SELECT count(*) FROM licenses l ${dialect.indexedBy('licenses_unused')}
              WHERE l.revoked_at IS NULL AND l.first_activated_at IS NULL AND l.expires_at > $now) AS "count"`,
        { now },
      );
      return row?.count ?? 0;
    },

    /** @param first days since 1970; so is `last` */
    listActiveChanges: (
      now: number,
      first: number,
      last: number,
    ): Promise<{ day: number; change: number }[]> => select(changes, { now, first, last }),

    async findHolders(ids: readonly number[]): Promise<Map<number, string>> {
      const rows = await select<{ id: number; holder: string }>(
        `SELECT l.id AS "id", l.holder AS "holder" FROM licenses l WHERE ${dialect.isIn('l.id', 'ids')}`,
        { ids },
      );
      return new Map(rows.map(({ id, holder }) => [id, holder]));
    },

    /** @param most counting stops at this number */
    async countEndingBy(now: number, until: number, most: number): Promise<number> {
      const sql = `
        SELECT count(*) AS "count" FROM (
          SELECT 1 FROM licenses
          WHERE revoked_at IS NULL AND expires_at > $now AND expires_at <= $until LIMIT $most
        ) ending`;
      const row = await selectFirst<{ count: number }>(sql, { now, until, most });
      return row?.count ?? 0;
    },
  };
}

export type OverviewStore = ReturnType<typeof createOverviewStore>;
