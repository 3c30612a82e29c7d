// How a figure compares with the period before.

export interface Change {
  direction: 'up' | 'down' | 'same';
  /** As a share of the figure before; null if that was zero. */
  share: number | null;
  difference: number;
}

export function changeOf(before: number, now: number): Change {
  const difference = now - before;
  return {
    direction: difference > 0 ? 'up' : difference < 0 ? 'down' : 'same',
    share: before === 0 ? null : difference / before,
    difference,
  };
}

/** Splits both periods in the middle. */
export function inHalves<Item>(items: readonly Item[]): { previous: Item[]; current: Item[] } {
  const middle = Math.floor(items.length / 2);
  return { previous: items.slice(0, middle), current: items.slice(middle) };
}

export function sumOf(days: readonly { count: number }[]): number {
  return days.reduce((total, { count }) => total + count, 0);
}
