// Usage per hour or day without gaps.
import type { leaseAdminContract } from '#server/features/leases/lease-admin-contract.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { DAY_MS, HOUR_MS } from '#server/wire/instants.ts';

type Usage = ReplyOf<typeof leaseAdminContract.leaseUsage>;
export type Interval = 'hour' | 'day';

export interface SeatUsage {
  peak: number;
  needed: number;
  average: number;
  denied: number;
  queued: number;
}

export interface UsagePoint extends SeatUsage {
  /** ISO 8601, or `2026-11-20`. */
  at: string;
  /** What its average is of: the hour or day as far as it is in the period. */
  ms: number;
}

const LENGTH = { hour: HOUR_MS, day: DAY_MS };
const UNUSED = { peak: 0, needed: 0, average: 0, denied: 0, queued: 0 };

/** The server leaves out the hours without use. */
export function usagePoints({ from, to, hours, days }: Usage, by: Interval): UsagePoint[] {
  const length = LENGTH[by];
  const known = new Map(
    by === 'hour'
      ? hours.map(({ hour, ...figures }) => [Date.parse(hour), figures])
      : days.map(({ day, ...figures }) => [Date.parse(day), figures]),
  );
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const first = Math.floor(start / length) * length;
  const count = Math.max(1, Math.ceil((end - first) / length));
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * length;
    const iso = new Date(at).toISOString();
    const ms = Math.max(0, Math.min(at + length, end) - Math.max(at, start));
    return { at: by === 'hour' ? iso : iso.slice(0, 10), ms, ...(known.get(at) ?? UNUSED) };
  });
}

/** Of the whole period. */
export function usageTotals(points: readonly UsagePoint[]): SeatUsage {
  const most = (field: 'peak' | 'needed') => points.reduce((top, point) => Math.max(top, point[field]), 0);
  const sum = (field: 'ms' | 'denied' | 'queued') => points.reduce((all, point) => all + point[field], 0);
  const seatMs = points.reduce((all, { average, ms }) => all + average * ms, 0);
  return {
    peak: most('peak'),
    needed: most('needed'),
    average: Math.round((seatMs / Math.max(1, sum('ms'))) * 100) / 100,
    denied: sum('denied'),
    queued: sum('queued'),
  };
}
