// Certificate times, in whole seconds.

/** Certificates and CRLs are backdated by this much, for machines whose clocks are behind. */
export const CLOCK_SKEW_MS = 300_000;

const SECOND_MS = 1000;

/** @param ms epoch milliseconds */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

/** The same date and time in a later year. @param ms epoch milliseconds */
export function yearsLater(ms: number, years: number): number {
  const date = new Date(ms);
  return date.setUTCFullYear(date.getUTCFullYear() + years);
}
