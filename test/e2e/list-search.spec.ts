// What a list shows between a change of its filters or its order and the answer, and while it refreshes.
import type { Page, Route } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { alertWith, expect, importLicenses, issueLicense, test } from './test.ts';

const grid = (page: Page) => page.getByRole('grid');
const body = (page: Page) => grid(page).locator('[role="rowgroup"]');
const rows = (page: Page) => body(page).locator('[role="row"]');
const scrollTop = (page: Page) => grid(page).evaluate((element) => element.scrollTop);

/** Holds the calls that match. */
async function hold(page: Page, calls: RegExp) {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route(calls, async (route) => {
    asked.resolve();
    await released.promise;
    await route.continue();
  });
  return { asked: asked.promise, release: released.resolve };
}

test('rows stay, dimmed and out of reach, until what was searched for arrives', async ({ desk }) => {
  await importLicenses(
    desk,
    Array.from({ length: 60 }, (_, index) => `Customer ${index + 1}`),
  );
  await desk.goto('/#/licenses');
  await expect(rows(desk).first()).toContainText('Customer 60');
  await grid(desk).evaluate((element) => element.scrollTo({ top: 360 }));
  await rows(desk).filter({ hasText: 'Customer 45' }).focus();
  const search = desk.getByRole('searchbox');
  const selectAll = desk.getByLabel('Select all loaded rows');

  const call = await hold(desk, /\/licenses\/\?.*search=/u);
  await search.fill('Customer 12');
  await call.asked;
  await expect(body(desk)).toHaveAttribute('inert');
  await expect(body(desk)).toHaveCSS('opacity', '0.5');
  await expect(grid(desk)).toHaveAttribute('aria-busy', 'true');
  await expect(desk.getByRole('status').filter({ hasText: 'Loading' })).toBeVisible();
  await expect(selectAll).toBeDisabled();
  await expect(rows(desk).filter({ hasText: 'Customer 45' })).toBeVisible();
  // They were not found by this search.
  await expect(rows(desk).locator('mark')).toHaveCount(0);
  expect(await scrollTop(desk)).toBe(360);
  await expectAccessible(desk);

  call.release();
  await expect(rows(desk)).toHaveCount(1);
  await expect(rows(desk)).toContainText('Customer 12');
  await expect(rows(desk).locator('mark')).toHaveText(['Customer', '12']);
  await expect(body(desk)).not.toHaveAttribute('inert');
  await expect(body(desk)).toHaveCSS('opacity', '1');
  await expect(selectAll).toBeEnabled();
  await expect(search).toBeFocused();

  // All are known; Tab reaches the first one, not the one that had the focus among others.
  await search.fill('');
  await expect(rows(desk).first()).toContainText('Customer 60');
  await expect(rows(desk).first()).toHaveAttribute('tabindex', '0');
  expect(await scrollTop(desk)).toBe(0);
});

/** More than one page, and a change of the newest one, whose refresh is held at its first page. */
async function holdRefresh(page: Page) {
  const call = await hold(page, /\/licenses\/\?(?!.*(?:cursor|search)=)/u);
  await page.request.put('/admin/api/licenses/', { data: { ref: '150', holder: 'Fjord Instruments' } });
  await call.asked;
  return call;
}

async function openManyLicenses(page: Page): Promise<void> {
  await importLicenses(
    page,
    Array.from({ length: 150 }, (_, index) => `Customer ${index + 1}`),
  );
  await page.goto('/#/licenses');
  await expect(rows(page).first()).toContainText('Customer 150');
  await rows(page).first().focus();
}

test('scrolling does not cut a refresh off', async ({ desk }) => {
  await openManyLicenses(desk);
  const call = await holdRefresh(desk);
  await desk.keyboard.press('End');
  await expect(rows(desk).filter({ hasText: 'Customer 51' })).toBeFocused();
  call.release();
  await expect(grid(desk)).toHaveAttribute('aria-rowcount', '151');
  await desk.keyboard.press('Home');
  await expect(rows(desk).first()).toContainText('Fjord Instruments');
});

for (const [failure, answer] of [
  ['a lost connection', (route: Route) => route.abort()],
  [
    'an overloaded server',
    (route: Route) =>
      route.fulfill({
        status: 503,
        json: { ok: false, error_code: 'overloaded', message: 'Too many requests.', request_id: 'x' },
      }),
  ],
] as const)
  test(`after ${failure}, a list loads the rest once it loads again`, async ({ desk }) => {
    await openManyLicenses(desk);
    const nextPage = /\/licenses\/\?.*cursor=/u;
    let asked = 0;
    await desk.route(nextPage, (route) => {
      asked += 1;
      return answer(route);
    });
    const problem = desk.getByText('The licenses could not be loaded');
    await desk.keyboard.press('End');
    await expect(problem).toBeVisible();
    // A failing server is not asked again for each row.
    const first = asked;
    for (const key of ['Home', 'End', 'ArrowUp', 'ArrowDown']) await desk.keyboard.press(key);
    await expect(rows(desk).filter({ hasText: 'Customer 51' })).toBeFocused();
    expect(asked).toBe(first);

    // A change elsewhere loads the first page again. That does not make the list complete.
    const again = desk.waitForRequest(nextPage);
    await desk.request.put('/admin/api/licenses/', { data: { ref: '51', holder: 'Fjord Instruments' } });
    await again;
    await expect(rows(desk).filter({ hasText: 'Fjord Instruments' })).toBeVisible();
    await expect(problem).toBeVisible();
    expect(asked).toBe(first + 1);

    await desk.unroute(nextPage);
    await desk.getByRole('button', { name: 'Try again' }).click();
    await expect(grid(desk)).toHaveAttribute('aria-rowcount', '151');
    await expect(problem).toHaveCount(0);
  });

test('a refresh asks for all its pages with the filters that it began with', async ({ desk }) => {
  await openManyLicenses(desk);
  await desk.keyboard.press('End');
  await expect(grid(desk)).toHaveAttribute('aria-rowcount', '151');
  const call = await holdRefresh(desk);
  await desk.getByRole('searchbox').fill('Fjord');
  await expect(rows(desk)).toHaveCount(1);
  const nextPage = desk.waitForRequest(/\/licenses\/\?.*cursor=/u);
  call.release();
  expect(new URL((await nextPage).url()).searchParams.get('search')).toBeNull();
  await desk.getByRole('searchbox').fill('');
  await expect(rows(desk).first()).toContainText('Fjord Instruments');
  await expect(grid(desk)).toHaveAttribute('aria-rowcount', '151');
});

test('the answer is asked for while the box waits for other keys', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await issueLicense(desk, { holder: 'Zenith' });
  await desk.clock.install();
  await desk.goto('/#/licenses');
  await expect(rows(desk)).toHaveCount(2);
  const asked = new Set<string>();
  desk.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    const search = searchParams.get('search');
    // Not counted: the page may only now be told that licenses were issued, and load a list anew.
    if (pathname.endsWith('/licenses/') && search !== null) asked.add(search);
  });
  await desk.clock.pauseAt(Date.now() + 60_000);
  const box = desk.getByRole('searchbox');
  const answered = desk.waitForResponse(/\/licenses\/\?search=a&/u);
  await box.press('a');
  await answered;
  await expect(rows(desk)).toHaveCount(2);
  // Keys that follow soon, as when one is held down.
  await box.press('c');
  await box.press('m');
  await desk.clock.runFor(50);
  await expect(rows(desk)).toHaveCount(1);
  await expect(rows(desk).locator('mark')).toHaveText('Acm');
  expect([...asked]).toEqual(['a', 'acm']);

  // After a pause, the next key is likely to be the last one.
  await box.press('e');
  await desk.clock.runFor(50);
  await expect(rows(desk).locator('mark')).toHaveText('Acme');
  expect([...asked]).toEqual(['a', 'acm', 'acme']);
});

test('an answer from before a change is not shown', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.clock.install();
  await desk.goto('/#/licenses');
  await expect(rows(desk)).toHaveCount(1);
  await desk.clock.pauseAt(Date.now() + 60_000);
  const answered = desk.waitForResponse(/\/licenses\/\?search=acme&/u);
  await desk.getByRole('searchbox').fill('acme');
  await answered;
  await issueLicense(desk, { holder: 'Acme Later' });
  await expect(rows(desk)).toHaveCount(2);
  await desk.clock.runFor(50);
  await expect(rows(desk).locator('mark')).toHaveText(['Acme', 'Acme']);
});

test('all rows of a list are replaced, also those out of sight', async ({ desk }) => {
  const holders = (name: string) => Array.from({ length: 60 }, (_, index) => `${name} ${index + 1}`);
  await importLicenses(desk, [...holders('Customer'), ...holders('Partner')]);
  await desk.goto('/#/licenses');
  const shown = () =>
    rows(desk).evaluateAll((elements) =>
      elements.map((element) => ({
        index: (element as HTMLElement).dataset['index'],
        name: /Customer|Partner/u.exec(element.textContent)?.[0],
      })),
    );
  const allOf = (name: string, length: number) =>
    Array.from({ length }, (_, index) => ({ index: String(index), name }));
  const height = await grid(desk).evaluate((element) => element.clientHeight);
  const rendered = Math.ceil(height / 36) + 12;
  await expect.poll(shown).toEqual(allOf('Partner', rendered));
  await desk.getByRole('searchbox').fill('customer');
  await expect.poll(shown).toEqual(allOf('Customer', rendered));
  await desk.getByRole('searchbox').fill('');
  await expect.poll(shown).toEqual(allOf('Partner', rendered));
  // Fewer than before.
  await desk.getByRole('searchbox').fill('customer 5');
  await expect.poll(shown).toEqual(allOf('Customer', 15));
});

test('a heading keeps the focus while the list is put into another order', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await issueLicense(desk, { holder: 'Zenith' });
  await desk.goto('/#/licenses');
  await expect(rows(desk).first()).toContainText('Zenith');
  const heading = grid(desk).getByRole('button', { name: 'Holder' });
  const call = await hold(desk, /\/licenses\/\?.*sort=holder/u);
  await heading.focus();
  await desk.keyboard.press('Enter');
  await call.asked;
  await expect(body(desk)).toHaveAttribute('inert');
  await expect(rows(desk).first()).toContainText('Zenith');
  call.release();
  await expect(rows(desk).first()).toContainText('Acme');
  await expect(heading).toBeFocused();
});

test('rows leave when what was searched for cannot be loaded', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/licenses');
  await expect(rows(desk)).toHaveCount(1);
  const failing = /\/licenses\/\?.*search=/u;
  await desk.route(failing, (route) =>
    route.fulfill({
      status: 500,
      json: { ok: false, error_code: 'internal_error', message: 'Internal error.', request_id: 'x' },
    }),
  );
  await desk.getByRole('searchbox').fill('acme');
  await expect(alertWith(desk, 'Internal error.')).toBeVisible();
  await expect(grid(desk)).toHaveCount(0);
  await desk.unroute(failing);
  await desk.getByRole('button', { name: 'Try again' }).click();
  await expect(rows(desk)).toContainText('Acme');
});

test('a list without rows does not say that nothing matches before the answer', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/licenses?search=nobody');
  const nothing = desk.getByText('No licenses match');
  await expect(nothing).toBeVisible();
  const call = await hold(desk, /\/licenses\/\?.*search=acme/u);
  await desk.getByRole('searchbox').fill('acme');
  await call.asked;
  await expect(nothing).toHaveCount(0);
  await expect(grid(desk)).toHaveCount(0);
  call.release();
  await expect(rows(desk)).toContainText('Acme');
});

test('the audit log keeps its rows while its filters change', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/audit');
  const entries = rows(desk).filter({ hasText: 'license.created' });
  await expect(entries.first()).toBeVisible();
  const call = await hold(desk, /\/audit\/\?.*actor=/u);
  await desk.getByRole('searchbox', { name: 'Actor' }).fill('nobody');
  await desk.keyboard.press('Enter');
  await call.asked;
  await expect(body(desk)).toHaveAttribute('inert');
  await expect(entries.first()).toBeVisible();
  call.release();
  await expect(desk.getByText('No entries match')).toBeVisible();
  await expect(entries).toHaveCount(0);
});

test('a product that is being typed stays while plans change', async ({ desk }) => {
  await desk.goto('/#/licenses');
  const product = desk.getByRole('combobox', { name: 'Product' });
  await product.pressSequentially('stud');
  await desk.request.post('/admin/api/plans/', { data: { name: 'team', product: 'studio' } });
  await expect(desk.getByRole('combobox', { name: 'Plan' })).toContainText('team');
  await expect(product).toHaveValue('stud');
  await product.pressSequentially('io');
  await desk.keyboard.press('Tab');
  await expect(desk).toHaveURL(/[?&]product=studio(?:&|$)/u);
});

test('a license that was found by its order number shows it', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', order_number: 'SO-4711' });
  await issueLicense(desk, { holder: 'Globex', order_number: 'SO-4712' });
  await desk.goto('/#/licenses');
  await desk.getByRole('searchbox').fill('so-4711');
  await expect(rows(desk)).toHaveCount(1);
  await expect(rows(desk)).toContainText('Acme');
  await expect(rows(desk).locator('mark')).toHaveText(['SO-4711']);
});
