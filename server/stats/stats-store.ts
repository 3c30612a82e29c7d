import { QueryTypes, type Sequelize } from 'sequelize';
import { DAY_MS } from '../platform/fields.ts';

interface LicenseCount {
  state: string;
  plan: string;
  product: string;
  count: number;
}

interface DayCount {
  day: string;
  count: number;
}

/** Epoch milliseconds. */
interface Period {
  from: number;
  to: number;
  product: string | undefined;
}

/** ISO date of a day that is numbered since 1970. */
function isoDay(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}

/** @param licenseState the SQL expression of a license's state, over `l`, `p` and `$now` */
export function createStatsStore(sequelize: Sequelize, licenseState: string) {
  const select = <Row extends object>(sql: string, bind: Record<string, unknown>) =>
    sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });

  const only = (column: string, product: string | undefined) =>
    product === undefined ? { sql: '1 = 1', bind: {} } : { sql: `${column} = $product`, bind: { product } };

  return {
    /** One row for each combination of state, plan and product that occurs. */
    countLicenses(now: number, product: string | undefined): Promise<LicenseCount[]> {
      const condition = only('l.product', product);
      return select(
        `SELECT ${licenseState} AS "state", p.name AS "plan", l.product AS "product", count(*) AS "count"
         FROM licenses l JOIN plans p ON p.id = l.plan_id WHERE ${condition.sql} GROUP BY 1, 2, 3`,
        { now, ...condition.bind },
      );
    },

    async countCertificates(now: number): Promise<{ valid: number; revoked: number; expired: number }> {
      const [row] = await select<{ total: number; revoked: number; expired: number }>(
        `SELECT count(*) AS "total", count(revoked_at) AS "revoked",
           count(CASE WHEN revoked_at IS NULL AND not_after < $now THEN 1 END) AS "expired" FROM certificates`,
        { now },
      );
      const { total = 0, revoked = 0, expired = 0 } = row ?? {};
      return { valid: total - revoked - expired, revoked, expired };
    },

    async countActivations(product: string | undefined): Promise<{ total: number; active: number }> {
      const condition = only('l.product', product);
      const join = product === undefined ? '' : 'JOIN licenses l ON l.id = a.license_id';
      const [row] = await select<{ total: number; active: number }>(
        `SELECT count(*) AS "total", count(*) - count(a.released_at) AS "active"
         FROM activations a ${join} WHERE ${condition.sql}`,
        condition.bind,
      );
      return row ?? { total: 0, active: 0 };
    },

    async countActivationsPerDay({ from, to, product }: Period): Promise<DayCount[]> {
      const condition = only('l.product', product);
      const join = product === undefined ? '' : 'JOIN licenses l ON l.id = a.license_id';
      const rows = await select<{ day: number; count: number }>(
        `SELECT a.activated_at / ${DAY_MS} AS "day", count(*) AS "count" FROM activations a ${join}
         WHERE a.activated_at >= $from AND a.activated_at < $to AND ${condition.sql} GROUP BY 1 ORDER BY 1`,
        { from, to, ...condition.bind },
      );
      return rows.map(({ day, count }) => ({ day: isoDay(day), count }));
    },

    /** By stored status; active ones whose time is up count as expired. */
    countTokens(now: number, product: string | undefined): Promise<{ state: string; count: number }[]> {
      const condition = only('t.product', product);
      return select(
        `SELECT CASE WHEN t.status = 'active' AND t.expires_at <= $now THEN 'expired' ELSE t.status END AS "state",
           count(*) AS "count"
         FROM authorization_tokens t WHERE ${condition.sql} GROUP BY 1`,
        { now, ...condition.bind },
      );
    },

    async countRegistrations(): Promise<number> {
      const [row] = await select<{ count: number }>(
        'SELECT count(*) AS "count" FROM webhooks WHERE deleted_at IS NULL',
        {},
      );
      return row?.count ?? 0;
    },

    countDeliveries(): Promise<{ status: string; count: number }[]> {
      return select('SELECT status AS "status", count(*) AS "count" FROM deliveries GROUP BY status', {});
    },

    countAuthorizationsPerDay({ from, to, product }: Period): Promise<DayCount[]> {
      const condition = only('product', product);
      return select(
        `SELECT day AS "day", CAST(sum(granted + denied) AS BIGINT) AS "count" FROM authorization_counts
         WHERE day >= $from AND day <= $to AND ${condition.sql} GROUP BY day ORDER BY day`,
        { from: isoDay(Math.floor(from / DAY_MS)), to: isoDay(Math.floor(to / DAY_MS)), ...condition.bind },
      );
    },
  };
}

export type StatsStore = ReturnType<typeof createStatsStore>;
