import type { Page } from '@playwright/test';
import { expect, issueLicense, test } from './test.ts';

const rows = (page: Page) => page.getByRole('table', { name: 'Licenses' }).locator('tbody tr');
const KEY = /[0-9A-Z]{5}(-[0-9A-Z]{5}){4}/u;

async function openLicenses(page: Page): Promise<void> {
  await page.goto('/#/licenses');
  await expect(page.getByRole('heading', { name: 'Licenses' })).toBeVisible();
}

/** Tab by tab, as somebody without a mouse: fails if the control cannot be reached. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 30; step += 1) {
    await page.keyboard.press('Tab');
    const focused = page.locator(':focus');
    if ((await focused.count()) > 0 && (await focused.ariaSnapshot()).includes(name)) return;
  }
  throw new Error(`Tab never reached ${name}`);
}

test('a license is created with the keyboard alone', async ({ desk }) => {
  await tabTo(desk, 'Licenses');
  await desk.keyboard.press('Enter');
  await expect(desk.getByText('There is no license yet.')).toBeVisible();
  await tabTo(desk, 'New license');
  await desk.keyboard.press('Enter');

  const dialog = desk.getByRole('dialog', { name: 'New license' });
  await expect(dialog.getByLabel('Holder')).toBeFocused();
  await expect(dialog.getByLabel('Plan')).toHaveValue('standard');
  await desk.keyboard.type('株式会社さくら & Söhne');
  await desk.keyboard.press('Tab');
  await desk.keyboard.type('Prof');
  await desk.keyboard.press('Tab');
  await desk.keyboard.type('studio-pro');
  await desk.keyboard.press('Tab');
  await desk.keyboard.type('30');
  await desk.keyboard.press('Enter');

  const created = desk.getByRole('dialog', { name: 'License created' });
  await expect(created).toContainText('For 株式会社さくら & Söhne: plan professional, product studio-pro.');
  const key = (await created.getByText(KEY).textContent()) ?? '';
  await expect(created.getByRole('button', { name: 'Copy: License key' })).toBeFocused();
  await desk.keyboard.press('Escape');
  await expect(desk.getByRole('dialog')).toHaveCount(0);
  await expect(desk.getByRole('button', { name: 'New license' })).toBeFocused();

  await expect(rows(desk)).toHaveCount(1);
  const cells = rows(desk).getByRole('cell');
  await expect(cells).toHaveText([
    key,
    '株式会社さくら & Söhne',
    'studio-pro',
    'professional',
    'Issued',
    '0 / 5',
    'in 30 days',
  ]);
  await expect(rows(desk).locator('time')).toHaveAttribute('title', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/u);
});

test('the key can be copied, and the next license created', async ({ desk, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openLicenses(desk);
  await desk.getByRole('button', { name: 'New license' }).click();
  await desk.getByLabel('Holder').fill('Acme');
  await desk.getByRole('button', { name: 'Create license' }).click();
  const copy = desk.getByRole('button', { name: 'Copy: License key' });
  await expect(copy).toBeFocused();
  await desk.keyboard.press('Enter');
  await expect(copy).toHaveText('Copied');
  expect(await desk.evaluate(() => navigator.clipboard.readText())).toMatch(KEY);
  await desk.getByRole('button', { name: 'Create another' }).click();
  await expect(desk.getByLabel('Holder')).toBeFocused();
  await expect(desk.getByLabel('Holder')).toHaveValue('');
});

test('search and state filter find what they should, and survive a reload', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme Robotics' });
  await issueLicense(desk, { holder: 'ООО «Северные технологии»' });
  const key = await issueLicense(desk, { holder: 'Fjord Instruments', days: 3 });
  await openLicenses(desk);
  await expect(rows(desk)).toHaveCount(3);

  const search = desk.getByRole('searchbox', { name: 'Search' });
  await search.fill('robot');
  await expect(rows(desk)).toHaveCount(1);
  await expect(rows(desk)).toContainText('Acme Robotics');
  await search.fill('Северные');
  await expect(rows(desk)).toContainText('ООО «Северные технологии»');
  await search.fill(key.toLowerCase());
  await expect(rows(desk)).toContainText('Fjord Instruments');
  await desk.reload();
  await expect(search).toHaveValue(key.toLowerCase());
  await expect(rows(desk)).toHaveCount(1);

  await search.fill('nobody at all');
  await expect(desk.getByText('No license matches.')).toBeVisible();
  await desk.getByRole('link', { name: 'Clear the filters' }).click();
  await expect(search).toHaveValue('');
  await expect(rows(desk)).toHaveCount(3);

  await desk.getByLabel('State').selectOption('Expiring');
  await expect(rows(desk)).toHaveCount(1);
  await expect(rows(desk)).toContainText('in 3 days');
});

test('more than a page is loaded on demand, each license once', async ({ desk }) => {
  for (let number = 1; number <= 61; number += 1) await issueLicense(desk, { holder: `Customer ${number}` });
  await openLicenses(desk);
  await expect(rows(desk)).toHaveCount(50);
  await expect(rows(desk).first()).toContainText('Customer 61');
  await expect(desk.getByText('The newest 50')).toBeVisible();
  await desk.getByRole('button', { name: 'Load more' }).click();
  await expect(rows(desk)).toHaveCount(61);
  await expect(desk.getByText('61 licenses')).toBeVisible();
  await expect(desk.getByRole('button', { name: 'Load more' })).toHaveCount(0);
  const keys = await rows(desk).locator('td:first-child').allTextContents();
  expect(new Set(keys).size).toBe(61);
});

test('what the service refuses is said, with the id that the log has', async ({ desk }) => {
  await openLicenses(desk);
  await desk.getByRole('button', { name: 'New license' }).click();
  await desk.getByLabel('Holder').fill('Acme');
  await desk.getByLabel('Product').fill('Not A Slug');
  const refused = desk.waitForResponse((response) => response.status() === 400);
  await desk.getByRole('button', { name: 'Create license' }).click();
  const { request_id: requestId } = (await (await refused).json()) as { request_id: string };

  const alert = desk.getByRole('dialog').getByRole('alert');
  await expect(alert).toContainText('product must be 1 to 64 of a-z, 0-9 and -');
  await expect(alert).toContainText(`Request id ${requestId}`);
  await expect(desk.getByLabel('Product')).toHaveAttribute('aria-invalid', 'true');
  await expect(desk.getByLabel('Holder')).toHaveValue('Acme');

  await desk.getByLabel('Product').fill('a-slug');
  await desk.getByRole('button', { name: 'Create license' }).click();
  await expect(desk.getByRole('dialog', { name: 'License created' })).toBeVisible();
});

test('a list that fails can be tried again', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.route('**/admin/api/licenses/*', (route) =>
    route.fulfill({
      status: 500,
      json: { ok: false, error_code: 'internal_error', message: 'something went wrong', request_id: 'x' },
    }),
  );
  await openLicenses(desk);
  await expect(desk.getByRole('alert')).toContainText('something went wrong');
  await desk.unroute('**/admin/api/licenses/*');
  await desk.getByRole('button', { name: 'Try again' }).click();
  await expect(rows(desk)).toHaveCount(1);
  await expect(desk.getByRole('alert')).toHaveCount(0);
});
