// The overview in one call: a few indexed counts, independent of the amount of data.
import type { ReadTogether } from '#server/database/read-together.ts';
import type { AuditService } from '#server/features/audit/audit-service.ts';
import type { AuthorityService } from '#server/features/certificates/authority-service.ts';
import type { RevocationListStore } from '#server/features/certificates/revocation-list-store.ts';
import type { DeniedCallService } from '#server/features/denied-calls/denied-call-service.ts';
import type { PoolListStore } from '#server/features/leases/pool-list-store.ts';
import type { LicenseState } from '#server/rules/license-lifecycle.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { LicenseCountStore } from '#server/features/statistics/license-count-store.ts';
import type { StatisticsStore } from '#server/features/statistics/statistics-store.ts';
import { type overviewContract, TREND_DAYS } from './overview-contract.ts';
import type { OverviewStore, SoonExpired } from './overview-store.ts';
import { freshFlight } from '#server/platform/single-flight.ts';

const DAYS_SHOWN = 30;
const SOONEST_SHOWN = 10;
const RECENT_SHOWN = 10;
const BUSY_PERCENT = 90;
const BUSY_SHOWN = 5;

interface Needs {
  figures: OverviewStore;
  licenses: Pick<LicenseCountStore, 'countByState'>;
  perDay: Pick<
    StatisticsStore,
    'countActivationsPerDay' | 'countAuthorizationsPerDay' | 'countDenialsPerDay'
  >;
  lists: Pick<RevocationListStore, 'newest' | 'countListed' | 'hasUnlisted'>;
  authority: Pick<AuthorityService, 'find'>;
  /** Failed deliveries that can be retried. */
  countFailedDeliveries(): Promise<number>;
  countDeniedToday: DeniedCallService['countToday'];
  audit: Pick<AuditService, 'list'>;
  pools: Pick<PoolListStore, 'listBusy'>;
  readTogether: ReadTogether;
  clock: Clock;
}

type Overview = ReplyOf<typeof overviewContract.overview>;
type Trend = ReplyOf<typeof overviewContract.overviewTrend>;
type Counted = { day: string; count: number }[];

function toSummary(license: SoonExpired): Overview['expiring']['soonest'][number] {
  return {
    license_id: license.id,
    license_key: license.licenseKey,
    holder: license.holder,
    product: license.product,
    plan: license.plan,
    state: license.state as LicenseState,
    expires_at: toTimestamp(license.expiresAt),
  };
}

/** @param day days since 1970 */
const isoDay = (day: number): string => toTimestamp(day * DAY_MS).slice(0, 10);

/** @param today days since 1970. @param length how many days, ending today */
function everyDay(counted: Counted, today: number, length = DAYS_SHOWN): Counted {
  const counts = new Map(counted.map(({ day, count }) => [day, count]));
  return Array.from({ length }, (_, index) => {
    const day = isoDay(today - length + 1 + index);
    return { day, count: counts.get(day) ?? 0 };
  });
}

/** Counts back from today, because earlier states are not stored. @param active how many there are now */
function activeLicenses(
  active: number,
  changes: readonly { day: number; change: number }[],
  today: number,
): Trend['active_licenses'] {
  let count = active;
  const levels = [{ day: isoDay(today), count }];
  for (const { day, change } of changes.toReversed()) {
    count -= Number(change);
    levels.push({ day: isoDay(Number(day) - 1), count });
  }
  return levels.toReversed();
}

type Entry = Awaited<ReturnType<AuditService['list']>>['items'][number];

/** Of the license itself, or of the token, certificate or delivery that belongs to one. */
function licenseIdOf({ subject, before, after }: Entry): number | null {
  const [noun, id] = subject.split(':');
  if (noun === 'license') return Number(id);
  const state = (after ?? before) as { license_id?: unknown } | null;
  return typeof state?.license_id === 'number' ? state.license_id : null;
}

export function createOverviewService(needs: Needs) {
  const { figures, licenses, perDay, lists, authority, audit, readTogether, clock } = needs;

  async function revocationList(): Promise<Overview['revocation_list']> {
    const list = await lists.newest();
    if (!list) return null;
    return {
      number: list.number,
      built_at: toTimestamp(list.builtAt),
      this_update: toTimestamp(list.thisUpdate),
      next_update: toTimestamp(list.nextUpdate),
      revoked: await lists.countListed(list),
      waiting: await lists.hasUnlisted(list.authorityKey),
    };
  }

  async function busyPools(): Promise<Overview['busy_pools']> {
    const busy = await needs.pools.listBusy(BUSY_PERCENT, BUSY_SHOWN);
    return {
      count: busy[0]?.total ?? 0,
      fullest: busy.map(({ id, holder, inUse, seats }) => ({ license_id: id, holder, in_use: inUse, seats })),
    };
  }

  async function recentEntries(): Promise<Overview['recent']> {
    const { items: entries } = await audit.list({ limit: RECENT_SHOWN });
    const ids = new Set(entries.map((entry) => licenseIdOf(entry)).filter((id) => id !== null));
    const holders = await figures.findHolders([...ids]);
    return entries.map((entry) => ({ ...entry, holder: holders.get(licenseIdOf(entry) ?? 0) ?? null }));
  }

  async function computeTrend(days: number): Promise<Trend> {
    const now = clock.now();
    const today = Math.floor(now / DAY_MS);
    const both = 2 * days;
    const period = { from: (today - both + 1) * DAY_MS, to: now + 1, product: undefined };
    const [changes, active, activations, authorizations, denied] = await readTogether(
      () => figures.listActiveChanges(now, today - days + 1, today),
      () => figures.countActivated(now),
      () => perDay.countActivationsPerDay(period),
      () => perDay.countAuthorizationsPerDay(period),
      () => perDay.countDenialsPerDay(period),
    );
    return {
      active_licenses: activeLicenses(active, changes, today),
      activations: everyDay(activations, today, both),
      authorizations: everyDay(authorizations, today, both),
      denied: everyDay(denied, today, both),
    };
  }
  const trends = new Map(TREND_DAYS.map((days) => [days as number, freshFlight(() => computeTrend(days))]));

  async function compute(): Promise<Overview> {
    const now = clock.now();
    const today = Math.floor(now / DAY_MS);
    const period = { from: (today - DAYS_SHOWN + 1) * DAY_MS, to: now + 1, product: undefined };
    const [
      { total, byState },
      ending,
      activations,
      authorizations,
      unused,
      soonest,
      recent,
      failedDeliveries,
      denied,
      pools,
      list,
      active,
    ] = await readTogether(
      () => licenses.countByState(now),
      () => figures.countEnding(now),
      () => perDay.countActivationsPerDay(period),
      () => perDay.countAuthorizationsPerDay(period),
      () => figures.findNewestUnused(now),
      () => figures.listSoonExpired(now, SOONEST_SHOWN),
      recentEntries,
      needs.countFailedDeliveries,
      needs.countDeniedToday,
      busyPools,
      revocationList,
      authority.find,
    );
    return {
      licenses: { total, by_state: byState },
      activations_per_day: everyDay(activations, today),
      authorizations_per_day: everyDay(authorizations, today),
      expiring: {
        days_7: ending.days7,
        days_30: ending.days30,
        days_90: ending.days90,
        soonest: soonest.map((license) => toSummary(license)),
      },
      newest_issued: unused && {
        license_id: unused.id,
        license_key: unused.licenseKey,
        holder: unused.holder,
        licensing: unused.licensing,
      },
      failed_deliveries: failedDeliveries,
      denied_today: denied,
      busy_pools: pools,
      revocation_list: list,
      authority: active && { not_after: toTimestamp(active.notAfter) },
      recent,
    };
  }

  return {
    /** Shared by all callers, so that many screens that reload together cause one set of queries. */
    read: freshFlight(compute),
    trend: ({ days }: RequestOf<typeof overviewContract.overviewTrend>): Promise<Trend> =>
      (trends.get(days) ?? (() => computeTrend(days)))(),
  };
}

export type OverviewService = ReturnType<typeof createOverviewService>;
