import { setTimeout as delay } from 'node:timers/promises';
import type { ReadTogether } from '#server/database/read-together.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { refusedField } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { MAX_DAYS, type statisticsContract } from './statistics-contract.ts';
import type { LicenseCountStore } from './license-count-store.ts';
import type { StatisticsStore } from './statistics-store.ts';

interface Needs {
  stats: StatisticsStore;
  licenses: Pick<LicenseCountStore, 'count'>;
  readTogether: ReadTogether;
  clock: Clock;
  /** Writes the authorization counts that are still in memory. */
  flushUsage(): Promise<void>;
}

type Stats = ReplyOf<typeof statisticsContract.stats>;

/** If the database cannot be written, numbers without the last seconds are better than none. */
const FLUSH_TIMEOUT_MS = 1000;
const DEFAULT_DAYS = 30;

/** Sums in a Map, because a plan can be named `constructor`. */
function sumBy<Row extends { count: number }>(
  rows: Row[],
  nameOf: (row: Row) => string,
): Record<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(nameOf(row), (sums.get(nameOf(row)) ?? 0) + row.count);
  return Object.fromEntries(sums);
}

export function createStatisticsService({ stats, licenses, readTogether, clock, flushUsage }: Needs) {
  async function licenseCounts(now: number, product: string | undefined): Promise<Stats['licenses']> {
    const { total, byState, kinds } = await licenses.count(now, product);
    return {
      total,
      by_state: byState,
      by_plan: sumBy(kinds, ({ plan }) => plan),
      by_product: sumBy(kinds, (kind) => kind.product),
    };
  }

  return {
    async read({ from, to, product }: RequestOf<typeof statisticsContract.stats>): Promise<Stats> {
      const now = clock.now();
      await Promise.race([flushUsage(), delay(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
      // Includes the current millisecond.
      const until = to ?? now + 1;
      const period = { from: from ?? until - DEFAULT_DAYS * DAY_MS, to: until, product };
      if (period.from > period.to || period.to - period.from > MAX_DAYS * DAY_MS) {
        throw refusedField('from', `must not be after to, or more than ${MAX_DAYS} days before it`);
      }
      const [counts, activations, perDay, tokens, certificates, registrations, byStatus, decisions] =
        await readTogether(
          () => licenseCounts(now, product),
          () => stats.countActivations(product),
          () => stats.countActivationsPerDay(period),
          () => stats.countTokens(now, product),
          () => stats.countCertificates(now, product),
          stats.countRegistrations,
          stats.countDeliveries,
          () => stats.countAuthorizationsPerDay(period),
        );
      const deliveries = sumBy(byStatus, (row) => row.status);
      return {
        licenses: counts,
        activations: { ...activations, per_day: perDay },
        tokens,
        certificates,
        webhooks: {
          registrations,
          delivered: deliveries['delivered'] ?? 0,
          retrying: deliveries['retrying'] ?? 0,
          failed: deliveries['failed'] ?? 0,
        },
        authorizations: { per_day: decisions },
      };
    },
  };
}

export type StatisticsService = ReturnType<typeof createStatisticsService>;
