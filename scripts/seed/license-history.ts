// Generates a license's history from its issue until now.
import {
  graceEndsAt,
  licenseState,
  nextNoticeAt,
  type LicenseState,
} from '#server/rules/license-lifecycle.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { SeedPlan } from './plans.ts';
import { type RandomSource, weighted } from './random-source.ts';

export interface LicenseHistory {
  issuedAt: number;
  expiresAt: number;
  graceEndsAt: number;
  term: number;
  /** When the current term was purchased; null in the first term. */
  renewedAt: number | null;
  firstActivatedAt: number | null;
  revokedAt: number | null;
  revokeReason: string | null;
  noticeDueAt: number | null;
  /** Until when the license was valid, at most now. */
  usableUntil: number;
  state: LicenseState;
}

/** Renewals arrive late: share of the licenses that expired within the last month and are not renewed yet. */
const LATE_SHARE = 0.45;
const LATE_MS = 30 * DAY_MS;
/** Share of the licenses that expired earlier and are never renewed. */
const LAPSED_SHARE = 0.08;
const TRIAL_EXTENDED_SHARE = 0.1;
const REVOKED_SHARE = 0.03;
const NEVER_ACTIVATED_SHARE = 0.04;
const FIRST_ACTIVATION_MS = 21 * DAY_MS;

const revokeReason = weighted<string | null>([
  ['chargeback', 4],
  ['invoice unpaid', 6],
  ['license key published', 3],
  ['laptop stolen, replaced by a new license', 3],
  ['smlouva vypovězena', 2],
  ['Vertrag gekündigt', 2],
  ['組織変更のため', 1],
  ['حسب طلب العميل', 1],
  [null, 3],
]);

interface Term {
  expiresAt: number;
  term: number;
  renewedAt: number | null;
}

/** Terms are contiguous until now, or until the license was not renewed. */
function currentTerm(random: RandomSource, plan: SeedPlan, issuedAt: number, now: number): Term {
  const duration = plan.durationDays * DAY_MS;
  const begun = Math.floor((now - issuedAt) / duration) + 1;
  const lastEnd = issuedAt + (begun - 1) * duration;
  const stops = random.chance(now - lastEnd < LATE_MS ? LATE_SHARE : LAPSED_SHARE);
  const most = plan.name === 'trial' ? 1 + Number(random.chance(TRIAL_EXTENDED_SHARE)) : begun;
  const term = Math.max(1, Math.min(most, stops ? begun - 1 : begun));
  const begins = issuedAt + (term - 1) * duration;
  const renewedAt = term === 1 ? null : Math.max(issuedAt, begins - random.below(20 * DAY_MS));
  return { expiresAt: issuedAt + term * duration, term, renewedAt };
}

export function makeHistory(
  random: RandomSource,
  plan: SeedPlan,
  issuedAt: number,
  now: number,
): LicenseHistory {
  const { expiresAt, term, renewedAt } = currentTerm(random, plan, issuedAt, now);
  const graceEnd = graceEndsAt(expiresAt, plan.graceDays);
  const end = Math.min(now, graceEnd);
  const begins = renewedAt ?? issuedAt;
  const revokedAt = random.chance(REVOKED_SHARE) ? begins + random.below(end - begins) : null;
  const usableUntil = revokedAt ?? end;
  const activation = issuedAt + random.below(FIRST_ACTIVATION_MS);
  const isActivated = activation < usableUntil && !random.chance(NEVER_ACTIVATED_SHARE);
  const firstActivatedAt = isActivated ? activation : null;
  const moments = { expiresAt, graceEndsAt: graceEnd, revokedAt, firstActivatedAt };
  return {
    ...moments,
    issuedAt,
    term,
    renewedAt,
    revokeReason: revokedAt === null ? null : revokeReason(random),
    // As if the scan had just run: past notices have been sent.
    noticeDueAt: nextNoticeAt(moments, now),
    usableUntil,
    state: licenseState(moments, now),
  };
}
