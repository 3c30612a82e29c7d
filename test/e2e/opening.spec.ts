import type { Page } from '@playwright/test';
import { holdRequests } from './held-reply.ts';
import { expect, issueLicense, test } from './test.ts';

const row = (page: Page, holder: string) => page.getByRole('row', { name: holder });

/** Opens the page after another site. @returns what it asked the server for until `shown` */
async function openAnew(page: Page, address: string, shown: () => Promise<unknown>): Promise<string[]> {
  await page.goto('about:blank');
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    // Health is polled.
    if (pathname.startsWith('/admin/api/') && !pathname.includes('/health/')) asked.push(pathname + search);
  });
  await page.goto(address);
  await shown();
  page.removeAllListeners('request');
  return asked;
}

test('asks for the first screen before its code has loaded, and for nothing twice', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  const screens = [
    {
      address: '/#/overview',
      shown: () => expect(desk.getByRole('region', { name: 'Activity' })).toBeVisible(),
      first: ['/overview/trend/?days=28', '/overview/'],
    },
    {
      address: '/#/licenses',
      shown: () => expect(row(desk, 'Acme')).toBeVisible(),
      first: ['/licenses/?sort=created&order=desc&limit=100'],
    },
    {
      address: '/#/statistics',
      shown: () => expect(desk.getByRole('region', { name: 'By state' })).toBeVisible(),
      first: [expect.stringMatching(/^\/stats\/\?from=/u)],
    },
  ];
  for (const { address, shown, first } of screens) {
    // A page that is greeted late asks again, as it should if something has just changed.
    await expect(async () => {
      const asked = await openAnew(desk, address, shown);
      expect(new Set(asked).size, JSON.stringify(asked)).toBe(asked.length);
      const calls = asked.map((path) => path.slice('/admin/api'.length));
      expect(calls.filter((path) => path !== '/live/').slice(0, first.length), address).toEqual(first);
      expect(calls, address).toContain('/live/');
      // With other parameters, a call would be asked anew by its screen.
      const lists = calls.filter((path) => /^\/(?:overview|licenses|plans|alerts)\/(?:$|\?)/u.test(path));
      expect(new Set(lists.map((path) => path.replace(/\?.*/u, ''))).size, address).toBe(lists.length);
    }).toPass({ timeout: 60_000 });
  }
});

test('shows changes that come while its code is loading', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('about:blank');
  const code = await holdRequests(desk, '**/assets/main-*.js');
  const listed = desk.waitForResponse(/\/admin\/api\/licenses\/\?/u);
  await desk.goto('/#/licenses', { waitUntil: 'commit' });
  await listed;
  const changed = desk.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const stream = new EventSource('/admin/api/live/');
        stream.addEventListener('hello', () => {
          void fetch('/admin/api/licenses/', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ holder: 'Later' }),
          });
        });
        stream.addEventListener('change', () => {
          stream.close();
          resolve();
        });
      }),
  );
  await changed;
  code.release();
  await expect(row(desk, 'Later')).toBeVisible();
});

test('shows changes that come before the stream is open', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  const changed = Promise.withResolvers<void>();
  await desk.goto('about:blank');
  await desk.route('**/admin/api/live/', async (route) => {
    await changed.promise;
    await route.continue();
  });
  const listed = desk.waitForResponse(/\/admin\/api\/licenses\/\?/u);
  const signedIn = desk.waitForResponse(/\/admin\/api\/health\/$/u);
  await desk.goto('/#/licenses', { waitUntil: 'commit' });
  await listed;
  // Neither waits for the stream.
  await signedIn;
  await issueLicense(desk, { holder: 'Later' });
  changed.resolve();
  await expect(row(desk, 'Later')).toBeVisible();
});

test('loads the fonts of alphabets that it has shown before ahead of its code', async ({ desk }) => {
  const fonts = (): Promise<string[]> =>
    desk.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .flatMap(({ name }) => /\/inter-(.*)-wght-normal-[^/]*\.woff2$/u.exec(name)?.[1] ?? [])
        .toSorted(),
    );
  await expect.poll(fonts).toEqual(['latin']);
  await issueLicense(desk, { holder: 'Győr' });
  await desk.goto('/#/licenses');
  await expect(row(desk, 'Győr')).toBeVisible();
  await expect.poll(fonts).toEqual(['latin', 'latin-ext']);
  // The font has come before the page notes what it has shown.
  await expect.poll(() => desk.evaluate(() => Object.values(localStorage))).toContain('latin-ext');

  await desk.goto('about:blank');
  const code = await holdRequests(desk, '**/assets/main-*.js');
  await desk.goto('/#/licenses', { waitUntil: 'commit' });
  await expect.poll(fonts).toEqual(['latin', 'latin-ext']);
  await expect(row(desk, 'Győr')).toHaveCount(0);
  code.release();
  await expect(row(desk, 'Győr')).toBeVisible();
});

test('loads the code of dialogs in a pause of the user', { tag: '@browser' }, async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  const loaded: string[] = [];
  desk.on('request', (request) => loaded.push(request.url()));
  const dialogs = () => loaded.filter((url) => url.includes('/CreateLicenseDialog-')).length > 0;
  await desk.goto('about:blank');
  await desk.clock.install();
  await desk.clock.pauseAt(Date.now() + 60_000);
  await desk.goto('/#/licenses');
  await expect(row(desk, 'Acme')).toBeVisible();
  for (const use of ['Shift', '/']) {
    await desk.clock.runFor(1900);
    await desk.keyboard.press(use);
  }
  await desk.clock.runFor(1900);
  expect(dialogs()).toBe(false);
  await desk.clock.runFor(200);
  await expect.poll(dialogs).toBe(true);
});
