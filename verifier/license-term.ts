// The license state that follows from the clock alone, the same on the server and in offline verifiers.

export type LicenseState = 'issued' | 'active' | 'expiring' | 'in_grace' | 'expired' | 'revoked';

/** A license is expiring while strictly less than this is left: 7 days, in milliseconds. */
export const EXPIRING_MS = 7 * 86_400_000;

/** One term of a license; epoch milliseconds, `graceEndsAt` is never before `expiresAt`. */
export interface LicenseTerm {
  readonly expiresAt: number;
  readonly graceEndsAt: number;
}

/**
 * The state of an unrevoked license (contract section 3). Each boundary belongs to the later state: at
 * `expiresAt` it is in grace, at `graceEndsAt` expired; without a grace period it is expired at `expiresAt`.
 */
export function termState(term: LicenseTerm, now: number): 'active' | 'expiring' | 'in_grace' | 'expired' {
  if (now >= term.graceEndsAt) return 'expired';
  if (now >= term.expiresAt) return 'in_grace';
  return term.expiresAt - now < EXPIRING_MS ? 'expiring' : 'active';
}
