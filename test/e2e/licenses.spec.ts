import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { goTo, task } from './tasks.ts';
import { alertWith, expect, expectBriefly, importLicenses, issueLicense, test } from './test.ts';

const rows = (page: Page) =>
  page.getByRole('grid', { name: 'Licenses' }).getByRole('rowgroup').getByRole('row');
const KEY = /[0-9A-Z]{5}(-[0-9A-Z]{5}){4}/u;

async function openLicenses(page: Page): Promise<void> {
  await page.goto('/#/licenses');
  await expect(page.getByRole('heading', { name: 'Licenses', exact: true })).toBeVisible();
}

/** Presses Tab until the control has focus; fails if it cannot be reached. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    if ((await focused.count()) > 0 && (await focused.ariaSnapshot()).split('\n')[0]?.includes(name)) return;
  }
  throw new Error(`Tab never reached ${name}`);
}

test('a license is issued by keyboard', async ({ desk, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await tabTo(desk, 'Licenses');
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('heading', { name: 'Licenses', exact: true })).toBeVisible();
  await expect(desk.getByText('No licenses yet')).toBeVisible();
  await tabTo(desk, 'New license');
  await desk.keyboard.press('Enter');

  const dialog = desk.getByRole('dialog', { name: 'New license' });
  await expect(dialog.getByLabel('Holder')).toBeFocused();
  await expect(dialog.getByLabel('Plan')).toHaveValue('standard');
  await desk.keyboard.type('株式会社さくら & Söhne');
  await desk.keyboard.press('Tab');
  await desk.keyboard.type('it@sakura.example');
  await desk.keyboard.press('Tab');
  await desk.keyboard.type('PO-4711');
  await desk.keyboard.press('Tab');
  await desk.keyboard.type('Prof');
  await desk.keyboard.press('Tab');
  await desk.keyboard.type('studio-pro');
  await desk.keyboard.press('Tab');
  await desk.keyboard.type('30');
  await desk.keyboard.press('Enter');

  const created = desk.getByRole('dialog', { name: 'License issued' });
  await expect(created.getByRole('status').first()).toContainText(
    '株式会社さくら & Söhne · professional · 5 seats · until',
  );
  await expect(created.getByLabel('To', { exact: true })).toHaveValue('it@sakura.example');
  await created.getByRole('tab', { name: 'Key' }).click();
  const key = (await created.getByText(KEY).textContent()) ?? '';
  const copy = created.getByRole('button', { name: 'Copy: License key' });
  await expectBriefly(copy, 'Copied', () => copy.press('Enter'));
  expect(await desk.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await desk.keyboard.press('Escape');
  await expect(desk.getByRole('dialog')).toHaveCount(0);
  await expect(desk.getByRole('button', { name: 'New license' })).toBeFocused();

  await expect(rows(desk)).toHaveCount(1);
  await expect(rows(desk).getByRole('gridcell')).toHaveText([
    '',
    '株式会社さくら & Söhne',
    new RegExp(`${key}$`, 'u'),
    'studio-pro',
    'professional',
    'Issued',
    '0/5',
    /^today, \d\d:\d\d$/u,
    /^\d{1,2} [A-Z][a-z]{2,3} \d{4} in 30 days$/u,
  ]);
  await expect(rows(desk).locator('time').last()).toHaveAttribute(
    'title',
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/u,
  );

  await rows(desk).focus();
  await desk.keyboard.press('Enter');
  const inspector = desk.getByRole('complementary', { name: '株式会社さくら & Söhne' });
  await expect(inspector).toContainText('it@sakura.example');
  await expect(inspector).toContainText('PO-4711');
  await desk.keyboard.press('Escape');
  await expect(inspector).toHaveCount(0);
});

test('a rejected form shows the reason and the request ID', async ({ desk }) => {
  await openLicenses(desk);
  await desk.getByRole('button', { name: 'New license' }).click();
  await desk.getByLabel('Holder').fill('Acme');
  await desk.getByRole('dialog').getByLabel('Product').fill('Not A Slug');
  const refused = desk.waitForResponse((response) => response.status() === 400);
  await desk.getByRole('button', { name: 'Issue license' }).click();
  const { request_id: requestId } = (await (await refused).json()) as { request_id: string };

  const dialog = desk.getByRole('dialog');
  const alert = dialog.getByRole('alert');
  await expect(alert).toContainText('Product must be 1 to 64 lowercase letters, digits or hyphens');
  await expect(alert).toContainText(`Request ID ${requestId}`);
  await expect(dialog.getByLabel('Product')).toHaveAttribute('aria-invalid', 'true');
  await expect(dialog.getByLabel('Holder')).toHaveValue('Acme');

  await dialog.getByLabel('Product').fill('a-slug');
  await desk.getByRole('button', { name: 'Issue license' }).click();
  await expect(desk.getByRole('dialog', { name: 'License issued' })).toBeVisible();
  await desk.getByRole('button', { name: 'Issue another' }).click();
  await expect(dialog.getByLabel('Holder')).toBeFocused();
  await expect(dialog.getByLabel('Holder')).toHaveValue('');
  await desk.keyboard.press('Escape');

  // Live updates would trigger a retry.
  await desk.route('**/admin/api/live/', (route) => route.abort());
  await desk.route('**/admin/api/licenses/?*', (route) =>
    route.fulfill({
      status: 500,
      json: { ok: false, error_code: 'internal_error', message: 'something went wrong', request_id: 'x' },
    }),
  );
  await desk.reload();
  await expect(alertWith(desk, /something went wrong/iu)).toBeVisible();
  await desk.unroute('**/admin/api/licenses/?*');
  await desk.getByRole('button', { name: 'Try again' }).click();
  await expect(rows(desk)).toHaveCount(1);
  await expect(desk.getByRole('alert')).toHaveCount(0);
});

/** Filters whose text is wider than they are. The placeholder of the search box is its tooltip as well. */
const cutOff = (page: Page) =>
  page.locator('.tools :is(select, input:not([type="search"]))').evaluateAll((filters) => {
    const canvas = document.createElement('canvas').getContext('2d')!;
    return filters.flatMap((filter) => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(filter);
      canvas.font = font;
      const text =
        filter instanceof HTMLSelectElement
          ? filter.selectedOptions[0]!.text
          : (filter as HTMLInputElement).placeholder;
      // Chromium keeps room for the arrow that opens the suggestions.
      const arrow = filter.hasAttribute('list') ? 20 : 0;
      const room =
        filter.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - arrow;
      return canvas.measureText(text).width > room ? [text] : [];
    });
  });

for (const [language, counted] of [
  ['English', '1,234,567 licenses'],
  ['Deutsch', '1.234.567 Lizenzen'],
] as const)
  test(`at 1100 px, all filters are on one line, where the count moves nothing, in ${language}`, async ({
    desk,
  }) => {
    await importLicenses(desk, ['Acme', 'Fjord Instruments']);
    await desk.setViewportSize({ width: 1100, height: 700 });
    await desk.getByLabel('Language').selectOption(language);
    const arrival = Promise.withResolvers<void>();
    await desk.route('**/admin/api/licenses/count/', async (route) => {
      await arrival.promise;
      await route.fulfill({ json: { ok: true, count: 1_234_567, exact: true } });
    });
    await desk.goto('/#/licenses');
    await expect(desk.locator('[data-index]')).toHaveCount(2);
    const placesOf = (selector: string) =>
      desk.locator(selector).evaluateAll((elements) =>
        elements.map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return { x, y, width, height };
        }),
      );
    const FILTERS = '.tools :is(input, select)';
    const filters = await placesOf(FILTERS);
    const list = await placesOf('[data-index]');
    expect(filters).toHaveLength(5);
    expect(new Set(filters.map(({ y }) => y)).size).toBe(1);
    expect(await cutOff(desk)).toEqual([]);
    arrival.resolve();
    await expect(desk.getByText(counted)).toBeVisible();
    expect(await placesOf(FILTERS)).toEqual(filters);
    expect(await placesOf('[data-index]')).toEqual(list);
  });

test('search, filters and order work and survive a reload', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme Robotics', product: 'field-kit' });
  await issueLicense(desk, { holder: 'ООО «Северные технологии»', plan: 'professional' });
  const key = await issueLicense(desk, { holder: 'Fjord Instruments', days: 3 });
  await openLicenses(desk);
  await expect(rows(desk)).toHaveCount(3);
  await expect(desk.getByText('3 licenses')).toBeVisible();

  const search = desk.getByRole('searchbox', { name: 'Search' });
  await search.fill('robot');
  await expect(rows(desk)).toHaveCount(1);
  await expect(desk.getByText('1 license', { exact: true })).toBeVisible();
  await expect(rows(desk)).toContainText('Acme Robotics');
  await search.fill('Северные');
  await expect(rows(desk)).toContainText('ООО «Северные технологии»');
  await search.fill(key.toLowerCase());
  await expect(rows(desk)).toContainText('Fjord Instruments');
  await desk.reload();
  await expect(search).toHaveValue(key.toLowerCase());
  await expect(rows(desk)).toHaveCount(1);

  await search.fill('nobody at all');
  await expect(desk.getByText('No licenses match')).toBeVisible();
  await desk.getByRole('button', { name: 'Clear filters' }).click();
  await expect(search).toHaveValue('');
  await expect(rows(desk)).toHaveCount(3);

  await desk.getByLabel('State', { exact: true }).selectOption('Expiring');
  await expect(rows(desk)).toContainText(['in 3 days']);
  await desk.getByLabel('State', { exact: true }).selectOption('All states');
  await desk.getByRole('combobox', { name: 'Plan' }).selectOption('professional');
  await expect(rows(desk)).toContainText(['Северные']);
  await desk.getByRole('combobox', { name: 'Plan' }).selectOption('All plans');
  await desk.getByRole('combobox', { name: 'Product' }).fill('field-kit');
  await desk.keyboard.press('Enter');
  await expect(rows(desk)).toContainText(['Acme Robotics']);
  await desk.getByRole('combobox', { name: 'Product' }).fill('');
  await desk.keyboard.press('Enter');
  await desk.getByLabel('Expires', { exact: true }).selectOption('Expires within 7 days');
  await expect(rows(desk)).toContainText(['Fjord Instruments']);
  await desk.getByLabel('Expires', { exact: true }).selectOption('Any expiry');

  await desk.getByRole('button', { name: 'Holder' }).click();
  await expect(rows(desk)).toContainText(['Acme', 'Fjord', 'Северные']);
  await expect(desk.getByRole('columnheader', { name: 'Holder' })).toHaveAttribute('aria-sort', 'ascending');
  await desk.getByRole('button', { name: 'Expires' }).click();
  await expect(rows(desk).first()).toContainText('Fjord');
  await desk.reload();
  await expect(rows(desk).first()).toContainText('Fjord');
  await expect(desk.getByRole('columnheader', { name: 'Expires' })).toHaveAttribute('aria-sort', 'ascending');
});

test('many licenses load while scrolling, and change in bulk', async ({ desk }) => {
  await importLicenses(
    desk,
    Array.from({ length: 120 }, (_, index) => `Customer ${index + 1}`),
  );
  await openLicenses(desk);
  await expect(desk.getByText('120 licenses')).toBeVisible();
  await expect(rows(desk).first()).toContainText('Customer 120');
  await rows(desk).first().focus();
  await desk.keyboard.press('End');
  await expect(desk.getByRole('grid')).toHaveAttribute('aria-rowcount', '121');
  await desk.keyboard.press('End');
  const last = rows(desk).last();
  await expect(last).toContainText(/^Customer 1\w{5}….*my-product/u);
  await expect(last).toBeFocused();

  // Opening a record, its tabs, its neighbors and closing leave the list where it is.
  const place = () => desk.getByRole('grid').evaluate(({ scrollTop }) => scrollTop);
  const before = await place();
  expect(before).toBeGreaterThan(1000);
  await desk.keyboard.press('Enter');
  const inspector = desk.getByRole('complementary', { name: 'Customer 1', exact: true });
  await inspector.getByRole('tab', { name: 'Devices' }).click();
  await expect(inspector.getByText('No devices activated yet.')).toBeVisible();
  expect(await place()).toBe(before);
  await inspector.focus();
  await desk.keyboard.press('ArrowUp');
  await expect(desk.getByRole('complementary', { name: 'Customer 2', exact: true })).toBeVisible();
  await desk.keyboard.press('Escape');
  await expect(desk.getByRole('complementary')).toHaveCount(0);
  await expect(rows(desk).filter({ hasText: /^Customer 2\w{5}…/u })).toBeFocused();
  expect(await place()).toBe(before);

  // Takes two calls. One license was revoked elsewhere in the meantime.
  await desk.getByLabel('Select all loaded rows').check();
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  await expect(selection).toContainText('120 selected');
  await desk.request.post('/admin/api/licenses/revoke/', { data: { ref: '7' } });
  await selection.getByRole('button', { name: 'Renew' }).click();
  await desk.getByLabel('Term (days)').fill('30');
  const renewing = desk.getByRole('dialog', { name: 'Renew 120 licenses' });
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await expect(renewing.getByRole('status')).toContainText('119 changed.');
  await expect(renewing.getByRole('listitem')).toHaveText(['Customer 7 #7: The license is revoked.']);
  await renewing.getByRole('button', { name: 'Done' }).click();
  await expect(selection).toContainText('1 selected');
  await expect(rows(desk).first()).toContainText('in 13 months');
  await expectAccessible(desk);

  await selection.getByRole('button', { name: 'Clear selection' }).click();
  await desk.getByRole('searchbox').fill('Customer 11');
  await expect(rows(desk)).toHaveCount(11);
  const rowAt = () => rows(desk).nth(0).boundingBox();
  const untouched = await rowAt();
  await rows(desk).nth(0).getByRole('checkbox').check();
  await expect(selection).toBeVisible();
  // Nothing moves under the pointer.
  expect(await rowAt()).toEqual(untouched);
  await rows(desk).nth(1).focus();
  await desk.keyboard.press('Space');
  await selection.getByRole('button', { name: 'Revoke' }).click();
  const revoking = desk.getByRole('dialog', { name: 'Revoke 2 licenses?' });
  await expect(revoking).toContainText(
    '2 licenses stop working immediately. No active devices are affected.',
  );
  await expect(revoking.getByRole('button', { name: 'Revoke' })).toBeDisabled();
  await revoking.getByLabel('Reason').fill('chargeback');
  await revoking.getByLabel('Type 2 to confirm').fill('2');
  await revoking.getByRole('button', { name: 'Revoke' }).click();
  await expect(revoking.getByRole('status')).toContainText('2 changed.');
  await revoking.getByRole('button', { name: 'Done' }).click();
  await expect(selection).toHaveCount(0);
  await expect(rows(desk).filter({ hasText: 'Revoked' })).toHaveCount(2);
});

test('a list is refreshed and loads more while changes keep coming', async ({ desk }) => {
  await importLicenses(
    desk,
    Array.from({ length: 120 }, (_, index) => `Customer ${index + 1}`),
  );
  await openLicenses(desk);
  await expect(rows(desk).first()).toContainText('Customer 120');
  await rows(desk).first().focus();
  // Before a page of the list arrives, something else has changed, and the screen knows of it.
  let changes = 0;
  await desk.route(/\/admin\/api\/licenses\/\?/u, async (route) => {
    const response = await route.fetch();
    const noticed = desk.waitForResponse(/\/admin\/api\/licenses\/count\//u);
    changes += 1;
    await desk.request.put('/admin/api/licenses/', { data: { ref: '120', holder: `Holder ${changes}` } });
    await noticed;
    await route.fulfill({ response });
  });
  await issueLicense(desk, { holder: 'New' });
  await desk.keyboard.press('End');
  await expect(desk.getByRole('grid')).toHaveAttribute('aria-rowcount', '122');
  await desk.getByRole('grid').evaluate((element) => element.scrollTo({ top: 0 }));
  await expect(rows(desk)).toContainText(['New', /Holder \d+/u]);
  await desk.unrouteAll({ behavior: 'ignoreErrors' });
});

test('a list whose last row moves to a next page loads that', async ({ desk }) => {
  await importLicenses(
    desk,
    Array.from({ length: 100 }, (_, index) => `Customer ${index + 1}`),
  );
  await openLicenses(desk);
  const grid = desk.getByRole('grid');
  await expect(grid).toHaveAttribute('aria-rowcount', '101');
  await rows(desk).first().focus();
  await desk.keyboard.press('End');
  await expect(rows(desk).last()).toBeFocused();
  await issueLicense(desk, { holder: 'New' });
  await expect(grid).toHaveAttribute('aria-rowcount', '102');
});

test('a range and the arrow keys go on from the same license after another was issued', async ({ desk }) => {
  await importLicenses(
    desk,
    Array.from({ length: 9 }, (_, index) => `Customer ${index + 1}`),
  );
  await openLicenses(desk);
  const rowOf = (holder: string) => rows(desk).filter({ hasText: new RegExp(`^${holder}\\w{5}…`, 'u') });
  await rowOf('Customer 7').getByRole('checkbox').check();
  await rowOf('Customer 6').focus();
  await issueLicense(desk, { holder: 'Customer 10' });
  await expect(rows(desk)).toHaveCount(10);
  await expect(rowOf('Customer 6')).toBeFocused();
  await expect(rowOf('Customer 6')).toHaveAttribute('tabindex', '0');
  await desk.keyboard.press('ArrowDown');
  await expect(rowOf('Customer 5')).toBeFocused();
  await desk.keyboard.press('Shift+Space');
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  await expect(selection).toContainText('3 selected');
  await expect(rowOf('Customer 8').getByRole('checkbox')).not.toBeChecked();
});

test('a license may be issued before the plans are there, and says so if they cannot be loaded', async ({
  desk,
}) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let isHeld = true;
  await desk.route(/\/admin\/api\/plans\//u, async (route) => {
    if (!isHeld) return route.continue();
    await released;
    return route.abort();
  });
  await desk.getByRole('link', { name: 'New license' }).first().click();
  await desk.getByLabel('Holder').fill('Fast Typist');
  await desk.getByRole('button', { name: 'Issue license' }).click();
  await expect(desk.getByRole('button', { name: 'Issue license' })).toBeDisabled();
  isHeld = false;
  release();
  await expect(desk.getByRole('dialog', { name: 'New license' }).getByRole('alert')).toBeVisible();
  await desk.getByRole('button', { name: 'Issue license' }).click();
  await expect(desk.getByRole('dialog', { name: 'License issued' })).toContainText('Fast Typist');
});

test('a search finds words in any order and half a key as it is said, and marks them', async ({
  desk,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const key = await task(desk, 'issue a license and hand it over', async () => {
    await desk.getByRole('link', { name: 'New license' }).first().click();
    await desk.getByLabel('Holder').fill('Nováček Werke');
    await desk.getByRole('button', { name: 'Issue license' }).click();
    const created = desk.getByRole('dialog', { name: 'License issued' });
    const message = await created.getByRole('textbox', { name: 'Message', exact: true }).inputValue();
    await created.getByRole('button', { name: 'Copy message' }).click();
    await expect(created.getByRole('log', { name: 'Results' })).toContainText('Message copied');
    return KEY.exec(message)?.[0] ?? '';
  });
  await issueLicense(desk, { holder: 'Novotny Works' });
  await desk.goto('/#/overview');
  await desk.reload();
  await desk.goto('/#/licenses');
  const found = rows(desk);
  await expect(found).toHaveCount(2);
  await desk.getByRole('searchbox').fill('werke NOVACEK');
  await expect(found).toHaveCount(1);
  await expect(found.locator('mark')).toHaveText(['Nováček', 'Werke']);
  await expectAccessible(desk);

  const said = key.slice(6, 17).replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l').toLowerCase();
  await desk.getByRole('searchbox').fill(said);
  await expect(found).toHaveCount(1);
  await expect(found.locator('mark')).toHaveText([key.slice(6, 17)]);

  await desk.setViewportSize({ width: 390, height: 844 });
  await desk.goto('/#/overview');
  await task(desk, 'find a license by half a key on the phone', async () => {
    await desk.getByRole('button', { name: 'Search' }).click();
    await desk.keyboard.type(said);
    await desk.getByRole('option', { name: 'Nováček Werke' }).click();
    await expect(desk.getByRole('complementary', { name: 'Nováček Werke' })).toContainText(key);
  });
});

test(
  'everything that matches is selected, renewed in batches and exported',
  { tag: '@browser' },
  async ({ desk }) => {
    await importLicenses(
      desk,
      Array.from({ length: 240 }, (_, index) => `Customer ${index + 1}`),
    );
    await issueLicense(desk, { holder: 'Somebody else' });
    await desk.goto('/#/licenses?search=customer');
    await expect(desk.getByText('240 licenses')).toBeVisible();
    const selection = desk.getByRole('group', { name: 'Selected licenses' });
    await desk.goto('/#/overview');
    await task(desk, 'renew 30 licenses', async () => {
      await goTo(desk, 'Licenses');
      await desk.getByRole('checkbox', { name: 'Select Customer 240', exact: true }).click();
      await desk.mouse.wheel(0, 800);
      await desk
        .getByRole('checkbox', { name: 'Select Customer 211', exact: true })
        .click({ modifiers: ['Shift'] });
      await selection.getByRole('button', { name: 'Renew' }).click();
      const dialog = desk.getByRole('dialog', { name: 'Renew 30 licenses' });
      await dialog.getByRole('button', { name: 'Renew' }).click();
      await expect(dialog.getByRole('status')).toContainText('30 changed.');
    });
    await desk.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
    await desk.goto('/#/licenses?search=customer');
    await expect(desk.getByText('240 licenses')).toBeVisible();
    await desk.getByRole('checkbox', { name: 'Select all' }).check();
    await selection.getByRole('button', { name: 'Select all 240 matching' }).click();
    await expect(selection).toContainText('240 selected');
    await expectAccessible(desk);

    await selection.getByRole('button', { name: 'Renew' }).click();
    const renewing = desk.getByRole('dialog', { name: 'Renew 240 licenses' });
    await expect(renewing.getByRole('list', { name: 'Preview' })).toContainText('Customer 240');
    await expect(renewing.getByRole('list', { name: 'Preview' })).toContainText('235 more licenses');
    await expectAccessible(desk);
    await renewing.getByRole('button', { name: 'Renew' }).click();
    await expect(renewing.getByRole('status')).toContainText('240 changed.');
    await renewing.getByRole('button', { name: 'Done' }).click();

    await desk.getByRole('rowgroup').getByRole('row').nth(1).getByRole('checkbox').check();
    const downloaded = desk.waitForEvent('download');
    await selection.getByRole('button', { name: 'Export' }).click();
    const text = await readFile(await (await downloaded).path(), 'utf8');
    expect(text.split('\r\n')).toHaveLength(3);
    expect(text).toContain('Customer 239');
  },
);

test('a license that is issued after the confirmation of a bulk change is left alone', async ({ desk }) => {
  const holders = Array.from({ length: 120 }, (_, index) => `Customer ${index + 1}`);
  await importLicenses(desk, holders);
  await openLicenses(desk);
  await desk.getByLabel('Select all loaded rows').check();
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  await selection.getByRole('button', { name: 'Select all 120 matching' }).click();
  await selection.getByRole('button', { name: 'Revoke' }).click();
  const revoking = desk.getByRole('dialog', { name: 'Revoke 120 licenses?' });
  await revoking.getByLabel('Type 120 to confirm').fill('120');
  await issueLicense(desk, { holder: 'Customer late' });
  await revoking.getByRole('button', { name: 'Revoke' }).click();
  await expect(revoking.getByRole('status')).toContainText('120 changed.');
  await revoking.getByRole('button', { name: 'Done' }).click();

  await expect(rows(desk).first()).toContainText(/^Customer late.*Issued/u);
  await desk.getByRole('searchbox').fill('Customer 1 ');
  await expect(rows(desk).last()).toContainText('Revoked');
});

test('everything that matches stays selected until the user changes it', async ({ desk }) => {
  await importLicenses(
    desk,
    Array.from({ length: 120 }, (_, index) => `Customer ${index + 1}`),
  );
  await openLicenses(desk);
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  const selectAll = selection.getByRole('button', { name: 'Select all 120 matching' });
  const first = rows(desk).first().getByRole('checkbox');
  await desk.getByLabel('Select all loaded rows').check();
  await selectAll.click();
  await expect(selection).toContainText('120 selected');
  await first.uncheck();
  await expect(selection).toContainText('99 selected');
  await first.check();
  await expect(selection).toContainText('100 selected');
  await selectAll.click();

  // The rows that load are part of it; a license that is issued now is not.
  await rows(desk).first().focus();
  await desk.keyboard.press('End');
  await expect(desk.getByRole('grid')).toHaveAttribute('aria-rowcount', '121');
  await expect(selection).toContainText('120 selected');
  await desk.keyboard.press('End');
  await expect(rows(desk).last()).toContainText(/^Customer 1\w{5}…/u);
  await expect(rows(desk).last().getByRole('checkbox')).toBeChecked();
  await desk.keyboard.press('Home');
  await issueLicense(desk, { holder: 'Customer late' });
  await expect(rows(desk).first()).toContainText('Customer late');
  await expect(first).not.toBeChecked();
  await expect(rows(desk).nth(1).getByRole('checkbox')).toBeChecked();
  await expect(selection).toContainText('120 selected');
  await selection.getByRole('button', { name: 'Renew' }).click();
  const renewing = desk.getByRole('dialog', { name: 'Renew 120 licenses' });
  await renewing.getByRole('button', { name: 'Cancel' }).click();
  await expect(selection).toContainText('120 selected');
});
