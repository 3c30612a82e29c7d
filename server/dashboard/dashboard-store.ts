import { QueryTypes, type Sequelize } from 'sequelize';
import { DAY_MS } from '../platform/fields.ts';

/** Licenses as the states need them; revoked ones are what is left of the total. */
export interface LicenseCounts {
  total: number;
  /** Further from their end than those that are expiring. */
  settled: number;
  /** Of these, the ones that have been activated. */
  activated: number;
  expiring: number;
  /** Past their end, in grace or not. */
  ended: number;
  inGrace: number;
  days7: number;
  days30: number;
  days90: number;
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

/**
 * Ranges of one index that holds all they need: a tenth of what it takes to work out the state of each license. The
 * rules are those of `licenseState`.
 */
const COUNT_LICENSES = `
  SELECT total."total", later."settled", later."activated", soon."expiring", past."ended", grace."inGrace",
    ahead."days7", ahead."days30", ahead."days90"
  FROM (SELECT count(*) AS "total" FROM licenses) total,
    (SELECT count(*) AS "settled", count(first_activated_at) AS "activated" FROM licenses
     WHERE revoked_at IS NULL AND expires_at >= $settledFrom) later,
    (SELECT count(*) AS "expiring" FROM licenses
     WHERE revoked_at IS NULL AND expires_at > $now AND expires_at < $settledFrom) soon,
    (SELECT count(*) AS "ended" FROM licenses WHERE revoked_at IS NULL AND expires_at <= $now) past,
    (SELECT count(*) AS "inGrace" FROM licenses l JOIN plans p ON p.id = l.plan_id
     WHERE l.revoked_at IS NULL AND l.expires_at <= $now
       AND l.expires_at > $now - (SELECT max(grace_days) FROM plans) * ${DAY_MS}
       AND l.expires_at + p.grace_days * ${DAY_MS} > $now) grace,
    (SELECT count(CASE WHEN expires_at <= $in7 THEN 1 END) AS "days7",
       count(CASE WHEN expires_at <= $in30 THEN 1 END) AS "days30", count(*) AS "days90" FROM licenses
     WHERE revoked_at IS NULL AND expires_at > $now AND expires_at <= $in90) ahead`;

interface Needs {
  /** The SQL expression of a license's state, over `l`, `p` and `$now`. */
  licenseState: string;
  /** How long before its end a license is expiring. */
  expiringMs: number;
}

export function createDashboardStore(sequelize: Sequelize, { licenseState, expiringMs }: Needs) {
  const select = <Row extends object>(sql: string, bind: Record<string, unknown>) =>
    sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });

  return {
    async countLicenses(now: number): Promise<LicenseCounts> {
      const within = (days: number) => now + days * DAY_MS;
      const [row] = await select<LicenseCounts>(COUNT_LICENSES, {
        now,
        settledFrom: now + expiringMs,
        in7: within(7),
        in30: within(30),
        in90: within(90),
      });
      if (!row) throw new Error('the licenses were not counted');
      return row;
    },

    /** Those that end next, the first of them first. */
    listSoonExpired: (now: number, limit: number): Promise<SoonExpired[]> =>
      select(
        `SELECT l.id AS "id", l.license_key AS "licenseKey", l.holder AS "holder", l.product AS "product",
           p.name AS "plan", ${licenseState} AS "state", l.expires_at AS "expiresAt"
         FROM licenses l JOIN plans p ON p.id = l.plan_id
         WHERE l.revoked_at IS NULL AND l.expires_at > $now AND l.expires_at <= $until
         ORDER BY l.expires_at, l.id LIMIT $limit`,
        { now, until: now + 90 * DAY_MS, limit },
      ),

    /** @param most what is beyond is not counted */
    async countEndingBy(now: number, until: number, most: number): Promise<number> {
      const sql = `
        SELECT count(*) AS "count" FROM (
          SELECT 1 FROM licenses
          WHERE revoked_at IS NULL AND expires_at > $now AND expires_at <= $until LIMIT $most
        ) ending`;
      const [row] = await select<{ count: number }>(sql, { now, until, most });
      return Number(row?.count ?? 0);
    },

    async countFailedDeliveries(): Promise<number> {
      // Of a webhook that is gone nothing can be tried again.
      const sql = `
        SELECT count(*) AS "count" FROM deliveries
        WHERE status = 'failed' AND webhook_id IN (SELECT id FROM webhooks WHERE deleted_at IS NULL)`;
      const [row] = await select<{ count: number }>(sql, {});
      return row?.count ?? 0;
    },
  };
}

export type DashboardStore = ReturnType<typeof createDashboardStore>;
