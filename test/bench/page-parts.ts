// The parts of the bench that measure the back office and the desktop app.
import type { Figure } from './figures.ts';
import { most } from './load-figures.ts';
import { measureDesktop } from './measure-desktop.ts';
import { measurePage } from './measure-page.ts';
import { readBodies } from './read-bodies.ts';
import { note, type Run } from './run.ts';
import { sampleOf } from './sample.ts';

/** How long searches and an export go on beside other calls. */
const BUSY_MS = { short: 3000, full: 10_000 };
const STARTS = { short: 3, full: 5 };
/** Common, rare and absent ones; letters with accents, part of a key, two letters. */
const SEARCHES = ['gmbh', 'nováček', 'robotics 12', 'nobody at all', 'zz', '7Q2'];

export async function page(run: Run): Promise<Figure[]> {
  note('page');
  const { server } = await run.servers.use(run.licenses);
  const { api, admin } = server;
  const bodies = readBodies(run.data.hotTokens);
  const busyMs = run.isShort ? BUSY_MS.short : BUSY_MS.full;
  const details = await measurePage({ api, admin, bodies, searches: SEARCHES, busyMs });
  const row = (figure: string, limit: number, measured: number | number[], unit: string) =>
    most(figure, [limit, unit], sampleOf([measured].flat()), details);
  return [
    row('back office: first screen, compressed', 350, details.bundleKb, 'KB'),
    row('back office: overview', 300, details.overviewMs, 'ms'),
    row('back office: first licenses after navigation', 300, details.firstRowsMs, 'ms'),
    row('back office: slowest search', 150, details.searchMs, 'ms'),
    row('back office: statistics', 400, details.statisticsMs, 'ms'),
    row('back office: frames while scrolling, p95', 17, details.frameP95Ms, 'ms'),
    row('back office: heap after scrolling', 60, details.heapMb, 'MB'),
    row('authorize/token/ p99 during search and export', 50, details.authorizeP99Ms, 'ms'),
  ];
}

export async function desktop({ isShort }: Run): Promise<Figure[]> {
  note('desktop app');
  const { loads, firstScreens, details } = await measureDesktop(isShort ? STARTS.short : STARTS.full);
  return [
    most('desktop app: loaded, before its server starts', [150, 'ms'], sampleOf(loads), details),
    most('desktop app: npm start until the first screen', [1200, 'ms'], sampleOf(firstScreens), details),
  ];
}
