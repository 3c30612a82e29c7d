// The form state of a plan.
import type { PlanObject } from '#server/features/plans/plan-contract.ts';

/** What a plan grants to floating licenses. Empty stands for any number. */
export interface FloatingDraft {
  seats: number | '';
  leaseSeconds: number;
  countBy: PlanObject['count_by'];
  lingerSeconds: number;
  overdraftSeats: number;
  borrowMaxHours: number;
  borrowMaxCount: number | '';
  borrowKeepFree: number;
}

export interface PlanDraft {
  name: string;
  displayName: string;
  tier: number;
  durationDays: number;
  graceDays: number;
  maxActivations: number | '';
  anyDevices: boolean;
  licensing: PlanObject['licensing'];
  floating: FloatingDraft;
  product: string;
  /** One entitlement per line. */
  features: string;
}

/** @param plan the plan to edit; null for the defaults of a new plan */
export function draftOf(plan: PlanObject | null): PlanDraft {
  return {
    name: plan?.name ?? '',
    displayName: plan?.display_name ?? '',
    tier: plan?.tier ?? 0,
    durationDays: plan?.duration_days ?? 365,
    graceDays: plan?.grace_days ?? 14,
    maxActivations: plan ? (plan.max_activations ?? '') : 1,
    anyDevices: plan !== null && plan.max_activations === null,
    licensing: plan?.licensing ?? 'node_locked',
    floating: {
      seats: plan?.seats ?? '',
      leaseSeconds: plan?.lease_seconds ?? 600,
      countBy: plan?.count_by ?? 'process',
      lingerSeconds: plan?.linger_seconds ?? 0,
      overdraftSeats: plan?.overdraft_seats ?? 0,
      borrowMaxHours: plan?.borrow_max_hours ?? 0,
      borrowMaxCount: plan?.borrow_max_count ?? '',
      borrowKeepFree: plan?.borrow_keep_free ?? 0,
    },
    product: plan?.product ?? '',
    features: plan?.features.join('\n') ?? '',
  };
}

const orNull = (count: number | '') => (count === '' ? null : count);

function floatingOf({ seats, borrowMaxCount, ...floating }: FloatingDraft) {
  return {
    seats: orNull(seats),
    lease_seconds: floating.leaseSeconds,
    count_by: floating.countBy,
    linger_seconds: floating.lingerSeconds,
    overdraft_seats: floating.overdraftSeats,
    borrow_max_hours: floating.borrowMaxHours,
    borrow_max_count: orNull(borrowMaxCount),
    borrow_keep_free: floating.borrowKeepFree,
  };
}

/** The entitlements, each once. */
export const featuresOf = (draft: PlanDraft) => [...new Set(draft.features.split(/[\s,]+/u).filter(Boolean))];

/** The request for the API, which validates the names. Entitlements are apart: an edit adds and removes some. */
export function planOf(draft: PlanDraft) {
  return {
    name: draft.name,
    display_name: draft.displayName.trim() || draft.name,
    tier: draft.tier,
    duration_days: draft.durationDays,
    grace_days: draft.graceDays,
    licensing: draft.licensing,
    // Each kind has its own seats.
    ...(draft.licensing === 'floating'
      ? floatingOf(draft.floating)
      : { max_activations: draft.anyDevices ? null : orNull(draft.maxActivations) }),
    product: draft.product || null,
  };
}
