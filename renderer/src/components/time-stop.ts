// Dates show their exact time while they have the focus. A tab stop for each would be in the way of the controls, so each
// region has one, and the left and right arrow keys go on from there.

/** What takes the focus or the touch instead of a date in it. */
export const CONTROLS = 'a, button, label, summary, [role="grid"], [role="option"]';
const REGIONS = '[role="tabpanel"], section, aside, dialog, main';

const isFree = (time: HTMLElement) => time.closest(CONTROLS) === null && time.checkVisibility();
const regionOf = (time: HTMLElement) => time.closest(REGIONS);

function datesByRegion(): Map<Element | null, HTMLElement[]> {
  const all = document.querySelectorAll<HTMLElement>('time[title]');
  return Map.groupBy([...all].filter(isFree), regionOf);
}

function setStop(dates: readonly HTMLElement[], stop: HTMLElement | undefined): void {
  for (const date of dates) date.tabIndex = date === stop ? 0 : -1;
}

/** Call it before Tab moves the focus: dates may have come, gone, or been hidden. */
export function setTimeStops(): void {
  for (const dates of datesByRegion().values())
    setStop(dates, dates.find(({ tabIndex }) => tabIndex === 0) ?? dates[0]);
}

/** Moves the focus within the region of a date. @returns whether there was a date on that side */
export function moveTimeStop(from: HTMLElement, by: 1 | -1): boolean {
  const dates = datesByRegion().get(regionOf(from)) ?? [];
  const next = dates[dates.indexOf(from) + by];
  if (!next) return false;
  setStop(dates, next);
  next.focus();
  return true;
}
