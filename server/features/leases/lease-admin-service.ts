// Floating licenses for administrators: leases, denials, usage, and reclaiming a seat.
import { idFromCursor, toPage } from '#server/database/page.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { Events } from '#server/features/events/event-service.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { DAY_MS, HOUR_MS } from '#server/wire/instants.ts';
import type { DenialLog } from './denial-log.ts';
import {
  type leaseAdminContract,
  type LeaseDenialObject,
  MAX_USAGE_DAYS,
  type SeatHolder,
} from './lease-admin-contract.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { PoolObject } from './lease-contract.ts';
import type { LeaseDenialStore, ListedDenial } from './lease-denial-store.ts';
import type { LeaseEndings } from './lease-endings.ts';
import type { LeaseListStore } from './lease-list-store.ts';
import { toEventLease, toLeaseRecord } from './lease-presenter.ts';
import { nameKey } from './lease-row.ts';
import type { LeaseUsageStore, UsageRow } from './lease-usage-store.ts';
import type { SeatPools } from './seat-pools.ts';
import { hourOf, meteredHours } from './usage-meter.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  list: LeaseListStore;
  denials: LeaseDenialStore;
  denialLog: Pick<DenialLog, 'flush'>;
  usage: LeaseUsageStore;
  pools: SeatPools;
  endings: LeaseEndings;
  events: Events;
  audit: Audit;
  leaseClock: LeaseClock;
  clock: Clock;
}

type UsageReply = ReplyOf<typeof leaseAdminContract.leaseUsage>;

const DEFAULT_USAGE_MS = 7 * DAY_MS;

function toDenialObject(denial: ListedDenial): LeaseDenialObject {
  return {
    id: denial.id,
    at: toTimestamp(denial.createdAt),
    license_id: denial.licenseId,
    license_key: denial.licenseKey,
    holder: denial.holder,
    error_code: denial.errorCode,
    rule_id: denial.ruleId,
    rule: denial.rule,
    instance_id: denial.instanceId,
    user: denial.userName,
    host: denial.host,
    address: denial.address,
    machine_fingerprint: denial.machineFingerprint,
    feature: denial.feature,
    units: denial.units,
    pool: JSON.parse(denial.pool) as PoolObject,
    holders: JSON.parse(denial.holders) as SeatHolder[],
    holder_count: denial.holderCount,
  };
}

/** @param ms how much of the period has passed */
function toUsage(rows: readonly UsageRow[], ms: number) {
  const sum = (field: 'seatMs' | 'denied' | 'queued') => rows.reduce((total, row) => total + row[field], 0);
  return {
    peak: Math.max(0, ...rows.map(({ peak }) => peak)),
    needed: Math.max(0, ...rows.map(({ peak, needed }) => Math.max(peak, needed))),
    average: ms <= 0 ? 0 : Math.round((sum('seatMs') / ms) * 100) / 100,
    denied: sum('denied'),
    queued: sum('queued'),
  };
}

/** What is in use now and not yet written. */
function withCurrent(rows: readonly UsageRow[], current: readonly UsageRow[]): UsageRow[] {
  const byHour = new Map(rows.map((row) => [row.hour, row]));
  for (const row of current) {
    const known = byHour.get(row.hour);
    byHour.set(
      row.hour,
      known ? { ...known, peak: Math.max(known.peak, row.peak), seatMs: known.seatMs + row.seatMs } : row,
    );
  }
  return [...byHour.values()].toSorted((a, b) => a.hour - b.hour);
}

export function createLeaseAdminService(needs: Needs) {
  const { licenses, list, denials, usage, pools, endings, leaseClock, clock } = needs;
  const times = () => ({ now: leaseClock.now(), at: clock.now() });

  async function licenseOf(ref: string): Promise<License> {
    return requireLicense(await licenses.find(byRef(ref)));
  }

  async function poolOf(license: License | null): Promise<PoolObject | null> {
    return license?.licensing === 'floating' ? pools.toObject(await pools.look(license)) : null;
  }

  function periodOf({ from, to = clock.now() }: RequestOf<typeof leaseAdminContract.leaseUsage>) {
    const period = { from: hourOf(from ?? to - DEFAULT_USAGE_MS), to };
    const problem =
      period.from >= to
        ? 'must be before `to`'
        : to - period.from > (MAX_USAGE_DAYS + 1) * DAY_MS
          ? `must be at most ${MAX_USAGE_DAYS} days before \`to\``
          : null;
    if (problem === null) return period;
    throw refusedField('from', problem);
  }

  return {
    async list(request: RequestOf<typeof leaseAdminContract.listLeases>) {
      await leaseClock.ready();
      const license = request.license === undefined ? null : await licenseOf(request.license);
      const rows = await list.list(
        {
          id: request.lease_id,
          licenseId: license?.id,
          userKey: nameKey(request.user || null) ?? undefined,
          hostKey: nameKey(request.host || null) ?? undefined,
          state: request.state,
          before: idFromCursor(request.cursor) ?? undefined,
        },
        request.limit,
      );
      const shown = times();
      const page = toPage(rows, request.limit, (lease) => toLeaseRecord(lease, shown));
      return { ...page, pool: await poolOf(license) };
    },

    async listDenials(request: RequestOf<typeof leaseAdminContract.listLeaseDenials>) {
      const license = request.license === undefined ? null : await licenseOf(request.license);
      // What was refused just now is part of the answer.
      await needs.denialLog.flush();
      const filter = {
        licenseId: license?.id,
        userKey: nameKey(request.user || null) ?? undefined,
        hostKey: nameKey(request.host || null) ?? undefined,
        errorCode: request.error_code,
        from: request.from,
        to: request.to,
        before: idFromCursor(request.cursor) ?? undefined,
      };
      return toPage(await denials.list(filter, request.limit), request.limit, toDenialObject);
    },

    async usage(request: RequestOf<typeof leaseAdminContract.leaseUsage>): Promise<UsageReply> {
      const license = await licenseOf(request.license);
      const { from, to } = periodOf(request);
      await needs.denialLog.flush();
      const { row } = await pools.look(license);
      const now = clock.now();
      // Without `to`, the hour that has just begun belongs to it.
      const before = request.to ?? hourOf(now) + HOUR_MS;
      const current = meteredHours(license.id, row.inUse, row.meteredAt, now);
      const rows = withCurrent(
        await usage.list(license.id, from, before),
        current.filter(({ hour }) => hour >= from && hour < before),
      );
      /** Of the hours that were asked for, which count as a whole. */
      const end = Math.min(now, hourOf(before - 1) + HOUR_MS);
      const elapsed = (start: number, length: number) =>
        Math.min(end, start + length) - Math.max(from, start);
      const byDay = Map.groupBy(rows, ({ hour }) => Math.floor(hour / DAY_MS) * DAY_MS);
      return {
        license_id: license.id,
        from: toTimestamp(from),
        to: toTimestamp(to),
        pool: await poolOf(license),
        hours: rows.map((hour) => ({
          hour: toTimestamp(hour.hour),
          ...toUsage([hour], elapsed(hour.hour, HOUR_MS)),
        })),
        days: [...byDay].map(([day, hours]) => ({
          day: toTimestamp(day).slice(0, 10),
          ...toUsage(hours, elapsed(day, DAY_MS)),
        })),
      };
    },

    async reclaim(
      { lease_id: id, reason }: RequestOf<typeof leaseAdminContract.reclaimLease>,
      call: Call,
    ): Promise<ReplyOf<typeof leaseAdminContract.reclaimLease>> {
      await leaseClock.ready();
      const done = await endings.withLeaseId(id, async (lease, pool) => {
        if (lease.endedAt !== null) return false;
        const { license } = pool;
        const ended = await endings.end(pool, lease, { state: 'reclaimed', reason: 'reclaimed' }, reason);
        await needs.events.emit({
          name: 'lease.reclaimed',
          license,
          ...(lease.machineFingerprint === null ? {} : { machineFingerprint: lease.machineFingerprint }),
          extra: { lease: toEventLease(lease), reason },
        });
        const shown = { licenseKey: license.licenseKey, holder: license.holder, position: null };
        await needs.audit.record(
          call,
          'lease.reclaimed',
          `license:${license.id}`,
          toLeaseRecord({ ...lease, ...shown }, times()),
          toLeaseRecord({ ...ended, ...shown }, times()),
        );
        return true;
      });
      if (!done) throw new ApiError('lease_not_found', `no live lease has the ID ${id}`);
      const [lease] = await list.list({ id }, 1);
      if (!lease) throw new Error(`lease ${id} disappeared`);
      return { lease: toLeaseRecord(lease, times()) };
    },
  };
}

export type LeaseAdminService = ReturnType<typeof createLeaseAdminService>;
