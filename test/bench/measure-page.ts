// The back office with all licenses behind it: how soon it shows something, and what the API's callers notice of it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium, type Page } from '@playwright/test';
import { chromiumLaunch } from '../../scripts/chromium.mjs';
import { builtPage } from '../../scripts/paths.mjs';
import { callSteadily, quantile } from './steady-calls.ts';

const ROUNDS = 5;
const SCROLL_MS = 1000;
const WHEEL_PX = 400;

interface Setup {
  api: string;
  /** The link that the start printed. */
  admin: string;
  /** For `/authorize/token/`. */
  bodies: readonly object[];
  /** Texts to search for, some of which find much and some nothing. */
  searches: readonly string[];
  /** How long searches and an export go on beside other calls. */
  busyMs: number;
}

/** What a screen is opened for. */
const AWAITED = {
  '#/overview': 'section[aria-label="Active licenses"]',
  '#/licenses': '[role="grid"] [data-index="0"]',
  '#/statistics': 'section canvas[role="img"]',
};
type Screen = keyof typeof AWAITED;

/**
 * Runs in the page from its start, and notes when it has painted what is awaited. Playwright asks for it less and less
 * often: after 20, 70, 170 and 270 ms.
 */
function noteWhenPainted(awaited: Record<string, string>): void {
  const selector = awaited[location.hash];
  if (selector === undefined) return;
  const look = () => {
    if (!document.querySelector(selector)) requestAnimationFrame(look);
    else
      setTimeout(() => Object.assign(globalThis, { paintedAt: performance.timeOrigin + performance.now() }));
  };
  requestAnimationFrame(look);
}

const firstRow = (page: Page) => page.getByRole('grid', { name: 'Licenses' }).locator('[data-index="0"]');

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** As somebody opens it who was elsewhere: the whole page, not just another screen of it. */
async function openMs(page: Page, origin: string, screen: Screen): Promise<number> {
  await page.goto('about:blank');
  const started = performance.timeOrigin + performance.now();
  await page.goto(`${origin}/${screen}`);
  await page.locator(AWAITED[screen]).first().waitFor();
  const painted = () => page.evaluate(() => (globalThis as { paintedAt?: number }).paintedAt);
  let at = await painted();
  for (; at === undefined; at = await painted()) await page.waitForTimeout(10);
  return at - started;
}

async function repeated(measure: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await measure());
  return times;
}

/**
 * Runs in the page: resolves when it has painted what was found. The address changes with the rows if the reply is there
 * already; otherwise the list is busy from then on, or a placeholder is shown if it was empty.
 */
function whenFound(text: string): Promise<void> {
  const isShown = () =>
    new URLSearchParams(location.hash.split('?')[1]).get('search') === text &&
    !document.querySelector('[role="grid"][aria-busy="true"], .skeleton');
  return new Promise((resolve) => {
    const look = () => (isShown() ? setTimeout(resolve) : requestAnimationFrame(look));
    requestAnimationFrame(look);
  });
}

/** From the last letter to the rows that it brought; of a text that was not searched for before. */
const searchMs = (page: Page, text: string): Promise<number> =>
  elapsed(async () => {
    await page.getByRole('searchbox').fill(text);
    await page.evaluate(whenFound, text);
  });

/** The 95th percentile of the time between two frames, in milliseconds, while the list is scrolled and loads more pages. */
async function scrollP95Ms(page: Page): Promise<number> {
  await page.getByRole('grid', { name: 'Licenses' }).hover();
  const frames = page.evaluate(
    (length) =>
      new Promise<number[]>((resolve) => {
        const gaps: number[] = [];
        const started = performance.now();
        let before = started;
        const step = (now: number) => {
          gaps.push(now - before);
          before = now;
          if (now - started < length) requestAnimationFrame(step);
          else resolve(gaps.slice(1));
        };
        requestAnimationFrame(step);
      }),
    SCROLL_MS,
  );
  const until = performance.now() + SCROLL_MS;
  while (performance.now() < until) {
    await page.mouse.wheel(0, WHEEL_PX);
    await page.waitForTimeout(30);
  }
  return quantile(await frames, 0.95);
}

async function heapMb(page: Page): Promise<number> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('HeapProfiler.enable');
  await devTools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devTools.send('Runtime.getHeapUsage');
  return usedSize / 2 ** 20;
}

/** What is transferred for the first screen, as a proxy that compresses would send it. */
async function firstScreenKb(page: Page, origin: string): Promise<number> {
  const files: string[] = [];
  const note = (request: { url(): string }) => files.push(new URL(request.url()).pathname);
  page.on('request', note);
  await openMs(page, origin, '#/overview');
  await page.waitForLoadState('networkidle').catch(() => {});
  page.off('request', note);
  const own = files.filter((path) => /\.(js|css|html|svg)$|^\/$/u.test(path));
  const bytes = own.map((path) => {
    return gzipSync(readFileSync(join(builtPage, path === '/' ? 'index.html' : path))).length;
  });
  return bytes.reduce((sum, length) => sum + length, 0) / 1024;
}

/** One search after the other beside an export, of which no more is read after a while. */
function keepBusy(
  page: Page,
  searches: readonly string[],
  busyMs: number,
): Promise<{ searched: number; bytes: number }> {
  const work = async ([texts, length]: [readonly string[], number]) => {
    const state = { isOver: false };
    const search = async () => {
      let searched = 0;
      for (; !state.isOver; searched += 1) {
        const text = encodeURIComponent(texts[searched % texts.length] ?? '');
        await (await fetch(`/admin/api/licenses/?limit=100&search=${text}`)).text();
      }
      return searched;
    };
    const searching = search();
    const response = await fetch('/admin/api/licenses/export/');
    const reader = response.body?.getReader();
    let bytes = 0;
    for (const until = performance.now() + length; performance.now() < until;) {
      const part = await reader?.read();
      if (!part || part.done) break;
      bytes += part.value.length;
    }
    await reader?.cancel();
    state.isOver = true;
    return { searched: await searching, bytes };
  };
  return page.evaluate(work, [searches, busyMs] as [readonly string[], number]);
}

export async function measurePage({ api, admin, bodies, searches, busyMs }: Setup) {
  const browser = await chromium.launch(chromiumLaunch);
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
    const { origin } = new URL(admin);
    await page.addInitScript(noteWhenPainted, AWAITED);
    await page.goto(admin);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const licenses = `${origin}/#/licenses`;
    const bundleKb = await firstScreenKb(page, origin);
    const overviewMs = await repeated(() => openMs(page, origin, '#/overview'));
    const firstRowsMs = await repeated(() => openMs(page, origin, '#/licenses'));
    const statisticsMs = await repeated(() => openMs(page, origin, '#/statistics'));
    await page.goto(licenses);
    await firstRow(page).waitFor();
    const searchTimes: number[] = [];
    for (const text of searches) searchTimes.push(await searchMs(page, text));
    await page.goto(`${origin}/#/overview`);
    await page.goto(licenses);
    await firstRow(page).waitFor();
    const frameP95Ms = await repeated(() => scrollP95Ms(page));
    const rows = await page.locator('[data-index]').last().getAttribute('data-index');
    const usedMb = await heapMb(page);

    let isOver = false;
    const calling = callSteadily(`${api}authorize/token/`, bodies, () => isOver);
    const busy = await keepBusy(page, searches, busyMs);
    isOver = true;
    const latencies = await calling;
    return {
      bundleKb,
      overviewMs,
      firstRowsMs,
      statisticsMs,
      searchMs: Math.max(...searchTimes),
      searchTimes,
      frameP95Ms,
      scrolledRows: Number(rows),
      heapMb: usedMb,
      authorizeP99Ms: quantile(latencies, 0.99),
      busy,
    };
  } finally {
    await browser.close();
  }
}
