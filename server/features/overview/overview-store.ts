import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import { DAY_MS } from '#server/wire/fields.ts';

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

interface Needs {
  /** The SQL expression of a license's state, over `l`, `p` and `$now`. */
  licenseState: string;
  /** How long before its end a license is expiring. */
  expiringMs: number;
}

export function createOverviewStore(sequelize: Sequelize, { licenseState, expiringMs }: Needs) {
  const { dialect, select, selectFirst } = sqlOf(sequelize);

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
        `SELECT l.id AS "id", l.license_key AS "licenseKey", l.holder AS "holder"
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
