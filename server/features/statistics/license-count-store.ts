// Counts licenses: a few hundredths of a second for a million, with one index per number.
import type { Sequelize } from 'sequelize';
import { GRACE_ENDS_AT, LONGEST_GRACE_MS } from '#server/database/grace-period.ts';
import type { Values } from '#server/database/named-values.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { LicenseState } from '#server/rules/license-lifecycle.ts';

export interface StateCounts {
  total: number;
  byState: Record<LicenseState, number>;
}

interface Figure {
  /** `kind` is a plan name or a product; null for other numbers. */
  figure: 'total' | 'issued' | 'expiring' | 'ended' | 'in_grace' | 'revoked' | 'kind';
  plan: string | null;
  product: string | null;
  count: number;
}

function toStateCounts(figures: readonly Figure[]): StateCounts {
  const sums = new Map<Figure['figure'], number>();
  for (const { figure, count } of figures) sums.set(figure, (sums.get(figure) ?? 0) + count);
  const of = (figure: Figure['figure']) => sums.get(figure) ?? 0;
  const others = of('issued') + of('expiring') + of('ended') + of('revoked');
  return {
    total: of('total'),
    byState: {
      issued: of('issued'),
      // Computed as the remainder: most licenses are active, and counting them would take longest.
      active: of('total') - others,
      expiring: of('expiring'),
      in_grace: of('in_grace'),
      expired: of('ended') - of('in_grace'),
      revoked: of('revoked'),
    },
  };
}

/** @param expiringMs how long before expiry a license is expiring */
export function createLicenseCountStore(sequelize: Sequelize, expiringMs: number) {
  const { dialect, select } = sqlOf(sequelize);
  const licenses = (index: string) => `licenses l ${dialect.indexedBy(index)}`;

  const figure = (name: Figure['figure'], value: string) =>
    `SELECT '${name}' AS "figure", NULL AS "plan", NULL AS "product", ${value} AS "count"`;
  const count = (name: Figure['figure'], from: string) => figure(name, `(SELECT count(*) FROM ${from})`);

  const total = (product: boolean) =>
    product
      ? `(SELECT CAST(coalesce(sum(k.count), 0) AS BIGINT) FROM ${dialect.kept.kinds(true)} k)`
      : dialect.kept.rows('licenses');

  /** The rules of `licenseState` as ranges of a covering index. @param product whether only `$product` counts */
  function states(product: boolean): string[] {
    const only = product ? 'AND l.product = $product' : '';
    return [
      figure('total', total(product)),
      count('revoked', `${licenses('licenses_revoked')} WHERE l.revoked_at IS NOT NULL ${only}`),
      count(
        'issued',
        `${licenses('licenses_unused')}
       WHERE l.revoked_at IS NULL AND l.first_activated_at IS NULL AND l.expires_at >= $soon ${only}`,
      ),
      count(
        'expiring',
        `${licenses('licenses_expiry')}
       WHERE l.revoked_at IS NULL AND l.expires_at > $now AND l.expires_at < $soon ${only}`,
      ),
      count(
        'ended',
        `${licenses('licenses_expiry')} WHERE l.revoked_at IS NULL AND l.expires_at <= $now ${only}`,
      ),
      count(
        'in_grace',
        `${licenses('licenses_expiry')} JOIN plans p ON p.id = l.plan_id
       WHERE l.revoked_at IS NULL AND l.expires_at <= $now
         AND l.expires_at > $now - ${LONGEST_GRACE_MS}
         AND ${GRACE_ENDS_AT} > $now ${only}`,
      ),
    ];
  }

  /** @param product whether only `$product` counts */
  const kinds = (product: boolean) =>
    `SELECT 'kind' AS "figure", p.name AS "plan", k.product AS "product", k.count AS "count"
     FROM ${dialect.kept.kinds(product)} k JOIN plans p ON p.id = k.plan_id`;

  /** One statement, so that all numbers are from the same moment. */
  const read = (parts: readonly string[], now: number, bind: Values) =>
    select<Figure>(parts.join(' UNION ALL '), { now, soon: now + expiringMs, ...bind });

  return {
    countByState: async (now: number): Promise<StateCounts> =>
      toStateCounts(await read(states(false), now, {})),

    /** By state, plan and product. */
    async count(now: number, product: string | undefined) {
      const figures = await (product === undefined
        ? read([...states(false), kinds(false)], now, {})
        : read([...states(true), kinds(true)], now, { product }));
      return {
        ...toStateCounts(figures),
        kinds: figures.flatMap(({ plan, product: name, count: number }) =>
          plan === null || name === null ? [] : [{ plan, product: name, count: number }],
        ),
      };
    },
  };
}

export type LicenseCountStore = ReturnType<typeof createLicenseCountStore>;
