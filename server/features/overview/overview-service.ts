// The overview in one call: a few indexed counts, independent of the amount of data.
import type { AuditService } from '#server/features/audit/audit-service.ts';
import type { AuthorityService } from '#server/features/certificates/authority-service.ts';
import type { RevocationListStore } from '#server/features/certificates/revocation-list-store.ts';
import type { LicenseState } from '#server/rules/license-lifecycle.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { DAY_MS, toTimestamp } from '#server/wire/fields.ts';
import type { LicenseCountStore } from '#server/features/statistics/license-count-store.ts';
import type { StatisticsStore } from '#server/features/statistics/statistics-store.ts';
import type { overviewContract } from './overview-contract.ts';
import type { OverviewStore, SoonExpired } from './overview-store.ts';
import { freshFlight } from '#server/platform/single-flight.ts';

const DAYS_SHOWN = 30;
const SOONEST_SHOWN = 10;
const RECENT_SHOWN = 10;

interface Needs {
  figures: OverviewStore;
  licenses: Pick<LicenseCountStore, 'countByState'>;
  perDay: Pick<StatisticsStore, 'countActivationsPerDay' | 'countAuthorizationsPerDay'>;
  lists: Pick<RevocationListStore, 'newest' | 'countListed' | 'hasUnlisted'>;
  authority: Pick<AuthorityService, 'find'>;
  /** Failed deliveries that can be retried. */
  countFailedDeliveries(): Promise<number>;
  audit: Pick<AuditService, 'list'>;
  clock: Clock;
}

type Overview = ReplyOf<typeof overviewContract.overview>;

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

/** @param today days since 1970 */
function everyDay(counted: { day: string; count: number }[], today: number): Overview['activations_per_day'] {
  const counts = new Map(counted.map(({ day, count }) => [day, count]));
  return Array.from({ length: DAYS_SHOWN }, (_, index) => {
    const day = toTimestamp((today - DAYS_SHOWN + 1 + index) * DAY_MS).slice(0, 10);
    return { day, count: counts.get(day) ?? 0 };
  });
}

export function createOverviewService(needs: Needs) {
  const { figures, licenses, perDay, lists, authority, audit, clock } = needs;

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

  async function compute(): Promise<Overview> {
    const now = clock.now();
    const today = Math.floor(now / DAY_MS);
    const period = { from: (today - DAYS_SHOWN + 1) * DAY_MS, to: now + 1, product: undefined };
    const { total, byState } = await licenses.countByState(now);
    const ending = await figures.countEnding(now);
    const unused = await figures.findNewestUnused(now);
    const active = await authority.find();
    const recent = await audit.list({ limit: RECENT_SHOWN });
    return {
      licenses: { total, by_state: byState },
      activations_per_day: everyDay(await perDay.countActivationsPerDay(period), today),
      authorizations_per_day: everyDay(await perDay.countAuthorizationsPerDay(period), today),
      expiring: {
        days_7: ending.days7,
        days_30: ending.days30,
        days_90: ending.days90,
        soonest: (await figures.listSoonExpired(now, SOONEST_SHOWN)).map((license) => toSummary(license)),
      },
      newest_issued: unused && {
        license_id: unused.id,
        license_key: unused.licenseKey,
        holder: unused.holder,
      },
      failed_deliveries: await needs.countFailedDeliveries(),
      revocation_list: await revocationList(),
      authority: active && { not_after: toTimestamp(active.notAfter) },
      recent: recent.items,
    };
  }

  return {
    /** Shared by all callers, so that many screens that reload together cause one set of queries. */
    read: freshFlight(compute),
  };
}

export type OverviewService = ReturnType<typeof createOverviewService>;
