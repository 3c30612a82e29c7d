// The bar of selected rows: what it offers after a change elsewhere, and where the focus goes when it leaves.
import type { Page } from '@playwright/test';
import { expect, importLicenses, test } from './test.ts';

test('licenses that all stopped matching are not offered for a bulk change', async ({ desk }) => {
  const ids = Array.from({ length: 120 }, (_, index) => index + 1);
  await importLicenses(
    desk,
    ids.map((id) => `Customer ${id}`),
  );
  await desk.goto('/#/licenses?state=issued');
  await desk.getByLabel('Select all loaded rows').check();
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  await selection.getByRole('button', { name: 'Select all 120 matching' }).click();
  await expect(selection).toContainText('120 selected');
  for (const batch of [ids.slice(0, 100), ids.slice(100)]) {
    const revoked = await desk.request.post('/admin/api/licenses/bulk/revoke/', {
      data: { license_ids: batch },
    });
    expect(revoked.ok(), await revoked.text()).toBe(true);
  }
  await expect(desk.getByText('No licenses match')).toBeVisible();
  await expect(selection).toContainText('None selected');
  for (const action of ['Renew', 'Export', 'Revoke'])
    await expect(selection.getByRole('button', { name: action })).toBeDisabled();
  await selection.getByRole('button', { name: 'Clear selection' }).click();
  await expect(selection).toHaveCount(0);
});

const rows = (page: Page) => page.getByRole('grid').getByRole('rowgroup').getByRole('row');

test('the focus returns to the row when the selection is cleared or its change is done', async ({ desk }) => {
  await importLicenses(
    desk,
    Array.from({ length: 60 }, (_, index) => `Customer ${index + 1}`),
  );
  await desk.goto('/#/licenses');
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  const [first, second] = [rows(desk).nth(0), rows(desk).nth(1)];
  await first.press('ArrowDown');
  await desk.keyboard.press('Space');
  await selection.getByRole('button', { name: 'Clear selection' }).press('Enter');
  await expect(selection).toHaveCount(0);
  await expect(second).toBeFocused();

  await desk.keyboard.press('Space');
  await desk.keyboard.press('ArrowUp');
  await desk.keyboard.press('Space');
  await selection.getByRole('button', { name: 'Renew' }).press('Enter');
  const dialog = desk.getByRole('dialog', { name: 'Renew 2 licenses' });
  await dialog.getByRole('button', { name: 'Renew' }).press('Enter');
  await expect(dialog.getByRole('status')).toContainText('2 changed.');
  await dialog.getByRole('button', { name: 'Done' }).press('Enter');
  await expect(selection).toHaveCount(0);
  await expect(first).toBeFocused();

  // The list keeps its place, even if that row is out of sight.
  await desk.keyboard.press('Space');
  await desk.getByRole('grid').evaluate((element) => element.scrollTo({ top: 40 * 36 }));
  const seen = rows(desk).filter({ hasText: /^Customer 20\w{5}…/u });
  await expect(seen).toBeInViewport({ ratio: 1 });
  await selection.getByRole('button', { name: 'Clear selection' }).press('Enter');
  await expect(seen).toBeFocused();
  expect(await desk.getByRole('grid').evaluate(({ scrollTop }) => scrollTop)).toBe(40 * 36);
});
