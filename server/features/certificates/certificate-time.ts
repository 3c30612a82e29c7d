// Moments as certificates have them: whole seconds.

/** Certificates and lists hold from a little before they are made, for machines whose clocks are behind. */
export const CLOCK_SKEW_MS = 300_000;

const SECOND_MS = 1000;

/** @param ms epoch milliseconds */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

/** The same day and time of a later year. @param ms epoch milliseconds */
export function yearsLater(ms: number, years: number): number {
  const date = new Date(ms);
  return date.setUTCFullYear(date.getUTCFullYear() + years);
}
