// Generates a license's devices: at most as many active ones as the plan allows, some released.
import { makeMachine, type Machine } from './devices.ts';
import type { LicenseHistory } from './license-history.ts';
import type { SeedPlan } from './plans.ts';
import type { RandomSource } from './random-source.ts';

export interface SeedActivation extends Machine {
  activatedAt: number;
  releasedAt: number | null;
}

const RELEASED_SHARE = 0.06;
const ALL_RELEASED_SHARE = 0.02;
const FURTHER_DEVICES = 0.7;
const FURTHER_ON_UNLIMITED_PLANS = 4;

/** Oldest first. */
export function makeActivations(
  random: RandomSource,
  plan: SeedPlan,
  license: LicenseHistory,
): SeedActivation[] {
  const { firstActivatedAt: first, usableUntil } = license;
  if (first === null) return [];
  const most = plan.maxActivations ?? Number.POSITIVE_INFINITY;
  const further = random.geometric(
    plan.maxActivations === null ? FURTHER_ON_UNLIMITED_PLANS : FURTHER_DEVICES,
  );
  const devices = Math.min(most, 1 + further);
  const moments = Array.from({ length: devices - 1 }, () => first + random.below(usableUntil - first));
  const allReleased = random.chance(ALL_RELEASED_SHARE);
  const release = (from: number) => from + random.below(usableUntil - from);
  const held = [first, ...moments.toSorted((a, b) => a - b)].map((activatedAt) => ({
    ...makeMachine(random),
    activatedAt,
    releasedAt: allReleased ? release(activatedAt) : null,
  }));
  if (!random.chance(RELEASED_SHARE)) return held;
  return [{ ...makeMachine(random), activatedAt: first, releasedAt: release(first) }, ...held];
}
