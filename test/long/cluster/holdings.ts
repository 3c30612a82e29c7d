// Who held a seat when, as clients know it: from an answer that grants it until the call that gives it back.

export interface Holding {
  /** In `performance.now()` time. */
  from: number;
  to: number;
  units: number;
}

/** @returns the most units that were held at the same time */
export function mostHeld(holdings: readonly Holding[]): number {
  const changes = holdings
    .filter(({ from, to }) => from < to)
    .flatMap(({ from, to, units }) => [
      { at: from, units },
      { at: to, units: -units },
    ])
    // What ends at the same time as something else begins was given back before.
    .toSorted((one, other) => one.at - other.at || one.units - other.units);
  let held = 0;
  let most = 0;
  for (const { units } of changes) {
    held += units;
    most = Math.max(most, held);
  }
  return most;
}
