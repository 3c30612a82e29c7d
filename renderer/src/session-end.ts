// What modules keep beyond a screen, and must not show to the next administrator.

const kept: (() => void)[] = [];
let ended = 0;

/**
 * @param forget runs when the user signs out, or discards what was open, in any tab of the browser. A session that
 *   ends by itself leaves everything for the next sign-in.
 */
export function atSessionEnd(forget: () => void): void {
  kept.push(forget);
}

export function forgetSession(): void {
  ended += 1;
  for (const forget of kept) forget();
}

/** @returns says whether the session has ended since this call */
export function noteSession(): () => boolean {
  const before = ended;
  return () => ended !== before;
}
