// The form state of a plan.
import type { PlanObject } from '#server/features/plans/plan-contract.ts';

export interface PlanDraft {
  name: string;
  displayName: string;
  tier: number;
  durationDays: number;
  graceDays: number;
  maxActivations: number | '';
  anyDevices: boolean;
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
    product: plan?.product ?? '',
    features: plan?.features.join('\n') ?? '',
  };
}

/** The request for the API, which validates the names. */
export function planOf(draft: PlanDraft) {
  return {
    name: draft.name,
    display_name: draft.displayName.trim() || draft.name,
    tier: draft.tier,
    duration_days: draft.durationDays,
    grace_days: draft.graceDays,
    max_activations: draft.anyDevices || draft.maxActivations === '' ? null : draft.maxActivations,
    product: draft.product || null,
    features: [...new Set(draft.features.split(/[\s,]+/u).filter(Boolean))],
  };
}
