// Dates show their exact time while they have the focus. A tab stop for each would be in the way of the controls, so each
// region has one, and the left and right arrow keys go on from there.

/** What takes the focus or the touch instead of a date in it. */
export const CONTROLS = 'a, button, label, summary, [role="grid"], [role="option"]';
const REGIONS = '[role="tabpanel"], section, aside, dialog, main';

const isFree = (time: HTMLElement) => time.closest(CONTROLS) === null && time.checkVisibility();

function datesOf(region: Element | null): HTMLElement[] {
  const all = region?.querySelectorAll<HTMLElement>('time[title]') ?? [];
  return [...all].filter((time) => time.closest(REGIONS) === region && isFree(time));
}

function setStop(dates: readonly HTMLElement[], stop: HTMLElement | undefined): void {
  for (const date of dates) date.tabIndex = date === stop ? 0 : -1;
}

/** Call it before Tab moves the focus: dates may have come, gone, or been hidden. */
export function setTimeStops(): void {
  const all = document.querySelectorAll('time[title]');
  for (const region of new Set([...all].map((time) => time.closest(REGIONS)))) {
    const dates = datesOf(region);
    setStop(dates, dates.find(({ tabIndex }) => tabIndex === 0) ?? dates[0]);
  }
}

/** Moves the focus within the region of a date. @returns false if there is no date on that side */
export function moveTimeStop(from: HTMLElement, by: 1 | -1): boolean {
  const dates = datesOf(from.closest(REGIONS));
  const next = dates[dates.indexOf(from) + by];
  if (!next) return false;
  setStop(dates, next);
  next.focus();
  return true;
}
