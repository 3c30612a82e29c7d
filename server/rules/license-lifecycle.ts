// License states, the notices that they cause, and renewal. Pure; all times are epoch milliseconds.
import { DAY_MS } from '#server/wire/instants.ts';
import { EXPIRING_MS, termState, type LicenseState, type LicenseTerm } from '../../verifier/license-term.ts';

export { EXPIRING_MS, type LicenseState };

/** The times that determine a license's state. */
export interface LicenseMoments extends LicenseTerm {
  readonly firstActivatedAt: number | null;
  readonly revokedAt: number | null;
}

/** Notices do not depend on whether the license was activated. */
export type NoticeMoments = Omit<LicenseMoments, 'firstActivatedAt'>;

/** Events that are caused by time alone. */
export type LicenseNotice = 'license.expiring' | 'license.in_grace' | 'license.expired';

/**
 * The state of a license at `now` (contract section 3). Revocation takes precedence over time. `issued` replaces
 * `active` until the first activation. The term starts with the issue, so a license can expire without an activation.
 */
export function licenseState(license: LicenseMoments, now: number): LicenseState {
  if (license.revokedAt !== null) return 'revoked';
  const state = termState(license, now);
  return state === 'active' && license.firstActivatedAt === null ? 'issued' : state;
}

/** When a license that expires at `expiresAt` reaches the end of its grace period. */
export function graceEndsAt(expiresAt: number, graceDays: number): number {
  return expiresAt + graceDays * DAY_MS;
}

/**
 * The notice that is due at `now`: only that of the current state, so that a downtime across several states causes one
 * event (contract section 3). Null before the first notice and for a revoked license. Ignores what was sent before: the
 * scan calls this only once the stored `notice_due_at` has come.
 */
export function dueNotice(license: NoticeMoments, now: number): LicenseNotice | null {
  if (license.revokedAt !== null) return null;
  const state = termState(license, now);
  return state === 'active' ? null : `license.${state}`;
}

/**
 * The value for `notice_due_at` after the notice due at `now` was sent: when the next one is due, always after `now`.
 * Null if none is left or the license is revoked.
 */
export function nextNoticeAt(license: NoticeMoments, now: number): number | null {
  return noticeMoments(license).find((moment) => moment > now) ?? null;
}

/**
 * The value for `notice_due_at` at the start of a term, at creation and renewal: when its first notice is due. In the
 * past for a term of less than 7 days, so that the next scan sends it immediately. Null for a revoked license.
 */
export function firstNoticeAt(license: NoticeMoments): number | null {
  return noticeMoments(license)[0] ?? null;
}

/**
 * The expiry of a renewed license: an explicit time unchanged; otherwise `days`, or the plan's `durationDays`, added to
 * `expiresAt` if that is in the future, else to `now` (contract section 3).
 */
export function renewedExpiry(renewal: {
  readonly expiresAt: number;
  readonly now: number;
  readonly durationDays: number;
  readonly days?: number | undefined;
  readonly explicit?: number | undefined;
}): number {
  if (renewal.explicit !== undefined) return renewal.explicit;
  const days = renewal.days ?? renewal.durationDays;
  return Math.max(renewal.expiresAt, renewal.now) + days * DAY_MS;
}

/** When each state with a notice begins, ascending. Without a grace period, the last two are equal. */
function noticeMoments(license: NoticeMoments): readonly number[] {
  if (license.revokedAt !== null) return [];
  return [license.expiresAt - EXPIRING_MS + 1, license.expiresAt, license.graceEndsAt];
}

/**
 * The new `notice_due_at` when an upgrade moves the end of the grace period to `newGraceEnd`. A license that waits for
 * that end waits for the new one. One that had passed it and is in grace again is scanned again.
 */
export function noticeAfterUpgrade(
  before: { readonly expiresAt: number; readonly noticeDueAt: number | null },
  newGraceEnd: number,
  now: number,
): number | null {
  const { noticeDueAt, expiresAt } = before;
  if (noticeDueAt === null) return newGraceEnd > now ? expiresAt : null;
  return noticeDueAt > expiresAt ? newGraceEnd : noticeDueAt;
}
