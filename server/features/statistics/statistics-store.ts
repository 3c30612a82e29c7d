import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import { DAY_MS, isoDay } from '#server/wire/instants.ts';

interface TokenCounts {
  active: number;
  expired: number;
  revoked: number;
  replaced: number;
}

interface CertificateCounts {
  valid: number;
  revoked: number;
  expired: number;
}

interface DayCount {
  day: string;
  count: number;
}

/** Epoch milliseconds. */
interface Period {
  from: number;
  /** Exclusive. */
  to: number;
  product: string | undefined;
}

/** One index range per day; grouping all rows takes seven times as long. */
const ACTIVATIONS_EACH_DAY = `
  WITH RECURSIVE days (day) AS (
    SELECT CAST($first AS BIGINT) UNION ALL SELECT day + 1 FROM days WHERE day < $last
  ), counted AS MATERIALIZED (
    SELECT day, (
      SELECT count(*) FROM activations a
      WHERE a.activated_at >= CASE WHEN day * ${DAY_MS} < $from THEN $from ELSE day * ${DAY_MS} END
        AND a.activated_at < CASE WHEN (day + 1) * ${DAY_MS} > $to THEN $to ELSE (day + 1) * ${DAY_MS} END
    ) AS count FROM days
  )
  SELECT day AS "day", count AS "count" FROM counted WHERE count > 0 ORDER BY day`;

const PRODUCT_ACTIVATIONS_PER_DAY = `
  SELECT a.activated_at / ${DAY_MS} AS "day", count(*) AS "count"
  FROM activations a JOIN licenses l ON l.id = a.license_id
  WHERE a.activated_at >= $from AND a.activated_at < $to AND l.product = $product GROUP BY 1 ORDER BY 1`;

const OF_PRODUCT = 'activations a JOIN licenses l ON l.id = a.license_id WHERE l.product = $product';

export function createStatisticsStore(sequelize: Sequelize) {
  const { dialect, select, selectFirst } = sqlOf(sequelize);

  /** A condition to add to others. */
  const only = (column: string, product: string | undefined) =>
    product === undefined ? { sql: '', bind: {} } : { sql: `AND ${column} = $product`, bind: { product } };

  /** Counts are kept by day, so the first and the last day of the period count completely. */
  function countDecisionsPerDay(decisions: string, { from, to, product }: Period): Promise<DayCount[]> {
    const condition = only('product', product);
    return select(
      `SELECT day AS "day", CAST(sum(${decisions}) AS BIGINT) AS "count" FROM authorization_counts
       WHERE day >= $from AND day <= $to ${condition.sql} GROUP BY day ORDER BY day`,
      {
        from: isoDay(Math.floor(from / DAY_MS)),
        to: isoDay(Math.floor((to - 1) / DAY_MS)),
        ...condition.bind,
      },
    );
  }

  return {
    async countCertificates(now: number, product: string | undefined): Promise<CertificateCounts> {
      const ofProduct = 'JOIN licenses l ON l.id = c.license_id WHERE l.product = $product';
      const row = await selectFirst<{ total: number; revoked: number; expired: number }>(
        `SELECT count(*) AS "total", count(c.revoked_at) AS "revoked",
           count(CASE WHEN c.revoked_at IS NULL AND c.not_after < $now THEN 1 END) AS "expired"
         FROM certificates c ${product === undefined ? '' : ofProduct}`,
        product === undefined ? { now } : { now, product },
      );
      const { total = 0, revoked = 0, expired = 0 } = row ?? {};
      return { valid: total - revoked - expired, revoked, expired };
    },

    async countActivations(product: string | undefined): Promise<{ total: number; active: number }> {
      const [all, released] =
        product === undefined
          ? [dialect.kept.rows('activations'), 'activations WHERE released_at IS NOT NULL']
          : [`(SELECT count(*) FROM ${OF_PRODUCT})`, `${OF_PRODUCT} AND a.released_at IS NOT NULL`];
      const row = await selectFirst<{ total: number; released: number }>(
        `SELECT ${all} AS "total", (SELECT count(*) FROM ${released}) AS "released"`,
        product === undefined ? {} : { product },
      );
      const { total, released: ended } = row ?? { total: 0, released: 0 };
      return { total, active: total - ended };
    },

    async countActivationsPerDay({ from, to, product }: Period): Promise<DayCount[]> {
      const bind = { from, to };
      const rows =
        product === undefined
          ? await select<{ day: number; count: number }>(ACTIVATIONS_EACH_DAY, {
              ...bind,
              first: Math.floor(from / DAY_MS),
              last: Math.floor(to / DAY_MS),
            })
          : await select<{ day: number; count: number }>(PRODUCT_ACTIVATIONS_PER_DAY, { ...bind, product });
      return rows.map(({ day, count }) => ({ day: isoDay(day), count }));
    },

    /** By stored status, except that active tokens past their expiry count as expired. */
    async countTokens(now: number, product: string | undefined): Promise<TokenCounts> {
      const ofProduct = only('product', product);
      const count = (from: string) => `(SELECT count(*) FROM authorization_tokens ${from})`;
      const withStatus = (condition: string) => count(`WHERE ${condition} ${ofProduct.sql}`);
      const all =
        product === undefined ? dialect.kept.rows('authorization_tokens') : count('WHERE product = $product');
      // Nearly all tokens are active, so the others are counted.
      const row = await selectFirst<TokenCounts & { total: number; overdue: number }>(
        `SELECT ${all} AS "total",
           ${withStatus(`status = 'expired'`)} AS "expired",
           ${withStatus(`status = 'revoked'`)} AS "revoked",
           ${withStatus(`status = 'replaced'`)} AS "replaced",
           ${withStatus(`status = 'active' AND expires_at <= $now`)} AS "overdue"`,
        { now, ...ofProduct.bind },
      );
      const { total = 0, expired = 0, revoked = 0, replaced = 0, overdue = 0 } = row ?? {};
      return {
        active: total - expired - revoked - replaced - overdue,
        expired: expired + overdue,
        revoked,
        replaced,
      };
    },

    async countRegistrations(): Promise<number> {
      const row = await selectFirst<{ count: number }>(
        'SELECT count(*) AS "count" FROM webhooks WHERE deleted_at IS NULL',
      );
      return row?.count ?? 0;
    },

    /** Includes deliveries that retention has removed, so a status may occur twice. */
    countDeliveries(): Promise<{ status: string; count: number }[]> {
      return select(
        `SELECT status AS "status", count(*) AS "count" FROM deliveries GROUP BY status
         UNION ALL SELECT status, count FROM pruned_deliveries`,
      );
    },

    /** Granted and denied. */
    countAuthorizationsPerDay: (period: Period) => countDecisionsPerDay('granted + denied', period),
    countDenialsPerDay: (period: Period) => countDecisionsPerDay('denied', period),
  };
}

export type StatisticsStore = ReturnType<typeof createStatisticsStore>;
