// The rules of a license's life: states, the notices they cause, renewal. Pure; all times are epoch milliseconds.
import { EXPIRING_MS, termState, type LicenseState, type LicenseTerm } from '../../verifier/license-term.ts';

export { EXPIRING_MS, type LicenseState };

const DAY_MS = 86_400_000;

/** The moments of one license that decide its state. */
export interface LicenseMoments extends LicenseTerm {
  readonly firstActivatedAt: number | null;
  readonly revokedAt: number | null;
}

/** What notices depend on; whether anyone activated the license does not matter to them. */
export type NoticeMoments = Omit<LicenseMoments, 'firstActivatedAt'>;

/** The events which time alone causes. */
export type LicenseNotice = 'license.expiring' | 'license.in_grace' | 'license.expired';

/**
 * The state of a license at `now` (contract section 3). Revocation outranks the clock. `issued` stands in for
 * `active` until the first activation; a term runs from its issue, so it can expire unactivated.
 */
export function licenseState(license: LicenseMoments, now: number): LicenseState {
  if (license.revokedAt !== null) return 'revoked';
  const state = termState(license, now);
  return state === 'active' && license.firstActivatedAt === null ? 'issued' : state;
}

/** When a license that expires at `expiresAt` becomes fully invalid. */
export function graceEndsAt(expiresAt: number, graceDays: number): number {
  return expiresAt + graceDays * DAY_MS;
}

/**
 * The notice that is due at `now`: the newest state's only, so that downtime which spanned several states causes
 * one event (contract section 3). Null before the first and for a revoked license. It does not know what was
 * emitted before: the scan asks only once the stored `notice_due_at` has come.
 */
export function dueNotice(license: NoticeMoments, now: number): LicenseNotice | null {
  if (license.revokedAt !== null) return null;
  const state = termState(license, now);
  return state === 'active' ? null : `license.${state}`;
}

/**
 * What to store as `notice_due_at` once the notice due at `now` is emitted: the next moment at which another
 * falls due, always after `now`. Null when none is left or the license is revoked.
 */
export function nextNoticeAt(license: NoticeMoments, now: number): number | null {
  return noticeMoments(license).find((moment) => moment > now) ?? null;
}

/**
 * What to store as `notice_due_at` when a term begins, at creation and renewal: the first moment at which any notice
 * of the term is due. It lies in the past for a term that starts with less than 7 days, which makes the next scan
 * emit at once. Null for a revoked license.
 */
export function firstNoticeAt(license: NoticeMoments): number | null {
  return noticeMoments(license)[0] ?? null;
}

/**
 * The new end of a renewed license: an explicit moment as it is; otherwise `days`, else the plan's `durationDays`,
 * added to `expiresAt` if that is ahead, else to `now` (contract section 3).
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

/** The first millisecond of each state with a notice, ascending. Without a grace period the last two coincide. */
function noticeMoments(license: NoticeMoments): readonly number[] {
  if (license.revokedAt !== null) return [];
  return [license.expiresAt - EXPIRING_MS + 1, license.expiresAt, license.graceEndsAt];
}

/**
 * What `notice_due_at` becomes when an upgrade moves the end of the grace period to `newGraceEnd`: a license that
 * waits for that end waits for the new one; one that had passed it and is back in grace is looked at again.
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
