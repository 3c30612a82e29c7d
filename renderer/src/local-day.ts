// Days as people enter them, in their own time zone.

function startOf(day: string, later: number): string | undefined {
  const [year, month, date] = day.split('-').map(Number);
  if (!/^\d{4}-\d\d-\d\d$/u.test(day) || year === undefined || month === undefined || date === undefined)
    return undefined;
  const start = new Date(year, month - 1, date + later);
  return start.getTime() >= 0 ? start.toISOString() : undefined;
}

/** The start of the day from an `<input type="date">`; undefined if invalid. */
export function startOfDay(day: string): string | undefined {
  return startOf(day, 0);
}

/** The start of the next day. */
export function endOfDay(day: string): string | undefined {
  return startOf(day, 1);
}
