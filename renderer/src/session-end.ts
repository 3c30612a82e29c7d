// What modules keep beyond a screen, and must not show to the next administrator.

const kept: (() => void)[] = [];

/**
 * @param forget runs when the user signs out, or discards what was open, in any tab of the browser. A session that
 *   ends by itself leaves everything for the next sign-in.
 */
export function atSessionEnd(forget: () => void): void {
  kept.push(forget);
}

export function forgetSession(): void {
  for (const forget of kept) forget();
}
