// Usage per hour or day without gaps.
import type { leaseAdminContract } from '#server/features/leases/lease-admin-contract.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';

type Usage = ReplyOf<typeof leaseAdminContract.leaseUsage>;
export type Interval = 'hour' | 'day';

export interface UsagePoint {
  /** ISO 8601, or `2026-11-20`. */
  at: string;
  peak: number;
  needed: number;
  average: number;
  denied: number;
  queued: number;
}

const LENGTH = { hour: 3_600_000, day: 86_400_000 };
const UNUSED = { peak: 0, needed: 0, average: 0, denied: 0, queued: 0 };

/** The server leaves out the hours without use. */
export function usagePoints({ from, to, hours, days }: Usage, by: Interval): UsagePoint[] {
  const length = LENGTH[by];
  const known = new Map(
    by === 'hour'
      ? hours.map(({ hour, ...figures }) => [Date.parse(hour), figures])
      : days.map(({ day, ...figures }) => [Date.parse(day), figures]),
  );
  const first = Math.floor(Date.parse(from) / length) * length;
  const count = Math.max(1, Math.ceil((Date.parse(to) - first) / length));
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * length;
    const iso = new Date(at).toISOString();
    return { at: by === 'hour' ? iso : iso.slice(0, 10), ...(known.get(at) ?? UNUSED) };
  });
}

/** Of the whole period. All points are equally long, so their averages can be averaged. */
export function usageTotals(points: readonly UsagePoint[]): Omit<UsagePoint, 'at'> {
  const most = (field: 'peak' | 'needed') => points.reduce((top, point) => Math.max(top, point[field]), 0);
  const sum = (field: 'average' | 'denied' | 'queued') =>
    points.reduce((all, point) => all + point[field], 0);
  return {
    peak: most('peak'),
    needed: most('needed'),
    average: Math.round((sum('average') / Math.max(1, points.length)) * 100) / 100,
    denied: sum('denied'),
    queued: sum('queued'),
  };
}
