// The form state of what a license overrides of its plan's seat limits. Empty takes the plan's value.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { SEAT_LIMITS } from '#server/features/plans/plan-contract.ts';

type Limit = (typeof SEAT_LIMITS)[number];
export type SeatLimitDraft = Record<Limit, number | ''>;

const MOST = 1_000_000_000;
const MOST_HOURS = 8760;

export const SEAT_LIMIT_BOUNDS: Record<Limit, { min: number; max: number }> = {
  seats: { min: 1, max: MOST },
  overdraft_seats: { min: 0, max: MOST },
  borrow_max_hours: { min: 0, max: MOST_HOURS },
  borrow_max_count: { min: 0, max: MOST },
  borrow_keep_free: { min: 0, max: MOST },
};

export const SEAT_LIMIT_LABELS = {
  seats: 'plans.fields.devices',
  overdraft_seats: 'plans.fields.overdraft',
  borrow_max_hours: 'plans.fields.borrowHours',
  borrow_max_count: 'plans.fields.borrowCount',
  borrow_keep_free: 'plans.fields.borrowKeepFree',
} as const satisfies Record<Limit, string>;

export function seatLimitDraft(limits: LicenseRecord['seat_limits']): SeatLimitDraft {
  const own = (name: Limit) => (limits?.overridden.includes(name) ? (limits[name] ?? '') : '');
  return Object.fromEntries(SEAT_LIMITS.map((name) => [name, own(name)])) as SeatLimitDraft;
}

/** The request for the API. */
export function toSeatLimits(draft: SeatLimitDraft): Record<Limit, number | null> {
  const entries = SEAT_LIMITS.map((name) => [name, draft[name] === '' ? null : draft[name]]);
  return Object.fromEntries(entries) as Record<Limit, number | null>;
}
