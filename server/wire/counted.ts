/** A number with its noun: `1 day`, `2 days`. */
export const counted = (count: number | bigint, noun: string): string =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
