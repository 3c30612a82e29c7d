// Days as people enter them, in the time zone that they live in.

function startOf(day: string, later: number): string | undefined {
  const [year, month, date] = day.split('-').map(Number);
  if (!/^\d{4}-\d\d-\d\d$/u.test(day) || year === undefined || month === undefined || date === undefined)
    return undefined;
  const start = new Date(year, month - 1, date + later);
  return start.getTime() >= 0 ? start.toISOString() : undefined;
}

/** When a day of an `<input type="date">` begins; undefined if it is none. */
export function startOfDay(day: string): string | undefined {
  return startOf(day, 0);
}

/** When the next day begins. */
export function endOfDay(day: string): string | undefined {
  return startOf(day, 1);
}
