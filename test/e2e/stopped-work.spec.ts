// Long operations can be stopped, and report their result.
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { gate } from './gate.ts';
import { chooseAction, expect, importLicenses, test } from './test.ts';

const holders = (count: number) => Array.from({ length: count }, (_, index) => `Customer ${index + 1}`);

/** More than one call can change. */
async function select120Licenses(desk: Page): Promise<void> {
  await importLicenses(desk, holders(120));
  await desk.goto('/#/licenses');
  const grid = desk.getByRole('grid', { name: 'Licenses' });
  await grid.getByRole('row').nth(1).focus();
  await desk.keyboard.press('End');
  await expect(grid).toHaveAttribute('aria-rowcount', '121');
  await desk.getByLabel('Select all loaded rows').check();
}

/** How many days each license is valid in all. */
async function listTerms(desk: Page): Promise<number[]> {
  const response = await desk.request.get('/admin/api/licenses/?limit=500');
  const { items } = (await response.json()) as { items: { issued_at: string; expires_at: string }[] };
  const days = (from: string, to: string) => Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);
  return items.map(({ issued_at: from, expires_at: to }) => days(from, to));
}

test('a stopped bulk change finishes the current batch', async ({ desk }) => {
  await select120Licenses(desk);
  const first = gate();
  await desk.route('**/licenses/bulk/renew/', async (route) => {
    await first.isOpen;
    await route.continue();
  });
  await desk.getByRole('button', { name: 'Renew' }).click();
  const renewing = desk.getByRole('dialog', { name: 'Renew 120 licenses' });
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await renewing.getByRole('button', { name: 'Stop' }).click();
  await expect(renewing.getByRole('button', { name: 'Stop' })).toBeDisabled();
  first.open();
  await expect(renewing.getByRole('status')).toContainText('100 changed.');
  await expect(renewing.getByRole('status')).toContainText('20 not processed.');
});

test('a bulk change whose reply is lost names what may have been changed, and a second try leaves it out', async ({
  desk,
}) => {
  await select120Licenses(desk);
  await desk.route(
    '**/licenses/bulk/renew/',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  const renewing = desk.getByRole('dialog');
  await selection.getByRole('button', { name: 'Renew' }).click();
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await expect(renewing.getByRole('status')).toHaveText(
    '0 of 120 processed. 100 possibly changed. 20 not processed.',
  );
  const unclear = renewing.getByRole('region', { name: 'Possibly changed' });
  await expect(unclear).toContainText('Check them before you change them again.');
  await expect(unclear.getByRole('listitem')).toHaveCount(100);
  await expect(unclear.getByRole('listitem').first()).toHaveText('Customer 120 #120');
  await expectAccessible(desk);
  await renewing.getByRole('button', { name: 'Done' }).click();

  await expect(selection).toContainText('20 selected');
  await selection.getByRole('button', { name: 'Renew' }).click();
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await expect(renewing.getByRole('status')).toContainText('20 changed.');
  await renewing.getByRole('button', { name: 'Done' }).click();
  await expect(selection).toHaveCount(0);
  expect(await listTerms(desk)).toEqual(Array.from({ length: 120 }, () => 730));
});

test('a license whose commit was not confirmed counts as possibly changed, and is deselected', async ({
  desk,
}) => {
  await importLicenses(desk, holders(3));
  const revoked = await desk.request.post('/admin/api/licenses/revoke/', { data: { ref: '3' } });
  expect(revoked.ok(), await revoked.text()).toBe(true);
  await desk.goto('/#/licenses');
  await desk.getByLabel('Select all loaded rows').check();
  await desk.route('**/licenses/bulk/renew/', async (route) => {
    const response = await route.fetch();
    const { done, failed, ...rest } = (await response.json()) as { done: number[]; failed: unknown[] };
    // As if the connection to the database broke during the commit.
    const lost = { license_id: 2, error_code: 'unavailable', message: 'not confirmed' };
    await route.fulfill({
      json: { ...rest, done: done.filter((id) => id !== 2), failed: [lost, ...failed] },
    });
  });
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  const renewing = desk.getByRole('dialog');
  await selection.getByRole('button', { name: 'Renew' }).click();
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await expect(renewing.getByRole('status')).toHaveText('2 of 3 processed. 1 changed. 1 possibly changed.');
  const unclear = renewing.getByRole('region', { name: 'Possibly changed' });
  await expect(unclear.getByRole('listitem')).toHaveText('Customer 2 #2');
  const refused = renewing.getByRole('region', { name: 'Not changed' });
  await expect(refused.getByRole('listitem')).toHaveText(/^Customer 3 #3/u);
  await renewing.getByRole('button', { name: 'Done' }).click();
  await expect(selection).toContainText('1 selected');
});

test('a canceled import leaves nothing behind', async ({ desk }) => {
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'Import licenses from CSV' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Import from CSV' });
  const text = ['holder', ...holders(20_000)].join('\n');
  const file = { name: 'licenses.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await dialog.getByLabel('CSV file').setInputFiles(file);
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  // Held until the click on Cancel: it could be over before that.
  const canceled = gate();
  await desk.route('**/licenses/import/run/', async (route) => {
    await canceled.isOpen;
    await route.continue();
  });
  await desk.route('**/licenses/import/cancel/', async (route) => {
    canceled.open();
    const params = route.request().postDataJSON() as { import_id: string };
    const status = async (): Promise<unknown> =>
      (await desk.request.get('/admin/api/licenses/import/status/', { params })).json();
    await expect.poll(status).toMatchObject({ state: 'running' });
    await route.continue();
  });
  await dialog.getByRole('button', { name: 'Import 20,000 licenses' }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog.getByRole('status')).toHaveText('Import canceled. No licenses were imported.');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const response = await desk.request.get('/admin/api/licenses/?limit=1');
  expect(await response.json()).toMatchObject({ items: [] });
});

test('a canceled backup or export ends its transfer', async ({ desk }) => {
  const never = gate();
  await desk.route(/\/admin\/api\/(?:backup|licenses\/export)\//u, async (route) => {
    await never.isOpen;
    await route.abort();
  });
  await desk.goto('/#/settings?tab=backup');
  const download = desk.getByRole('button', { name: 'Download backup' });
  await download.click();
  await expect(desk.getByRole('progressbar')).toBeVisible();
  await expect(download).toBeDisabled();
  const brokenOff = desk.waitForEvent('requestfailed', (request) => request.url().includes('/backup/'));
  await desk.getByRole('button', { name: 'Cancel' }).click();
  await brokenOff;
  await expect(download).toBeEnabled();
  await expect(desk.getByRole('alert')).toHaveCount(0);

  await importLicenses(desk, holders(2));
  await desk.goto('/#/licenses');
  await chooseAction(desk, 'Export as CSV');
  const dialog = desk.getByRole('dialog', { name: 'Export as CSV' });
  await dialog.getByRole('button', { name: 'Download CSV' }).click();
  await expect(dialog.getByRole('progressbar')).toBeVisible();
  const givenUp = desk.waitForEvent('requestfailed', (request) => request.url().includes('/export/'));
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await givenUp;
  await expect(dialog).toHaveCount(0);
  never.open();
});
