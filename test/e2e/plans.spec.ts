import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

/** The cells of a row, one for each plan. */
const cells = (page: Page, row: string) =>
  page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: row, exact: true }) })
    .getByRole('cell');

async function openPlans(page: Page): Promise<void> {
  await page.goto('/#/plans');
  await expect(page.getByRole('columnheader').first()).toBeVisible();
}

test('plans are compared, created, edited, archived and deleted', async ({ desk }) => {
  await openPlans(desk);
  await expect(cells(desk, 'Tier')).toHaveText(['0', '10', '20', '30']);
  await expect(cells(desk, 'Seats')).toHaveText(['1', '1', '5', 'Unlimited']);

  await desk.getByRole('button', { name: 'New plan' }).click();
  const dialog = desk.getByRole('dialog');
  await expect(dialog.getByLabel('Name', { exact: true })).toBeFocused();
  await dialog.getByLabel('Name', { exact: true }).fill('Studio');
  await dialog.getByLabel('Display name').fill('Studio für Ärzte');
  await dialog.getByLabel('Tier').fill('15');
  await dialog.getByLabel('Unlimited seats').check();
  await dialog.getByLabel('Entitlements').fill('export\nprint');
  await dialog.getByRole('button', { name: 'Create plan' }).click();
  await expect(dialog.getByRole('alert')).toContainText(
    'name must be 1 to 64 lowercase letters, digits or hyphens',
  );
  await expect(dialog.getByLabel('Name', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByLabel('Name', { exact: true }).fill('studio');
  await dialog.getByRole('button', { name: 'Create plan' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(desk.getByRole('columnheader')).toContainText([
    'trial',
    'standard',
    'studio',
    'professional',
    'enterprise',
  ]);
  await expect(cells(desk, 'print').nth(2)).toHaveText('✓Included');

  await desk.getByRole('button', { name: 'Edit: studio' }).click();
  await dialog.getByLabel('Grace period (days)').fill('3');
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await expect(cells(desk, 'Grace period').nth(2)).toHaveText('3 days');

  await desk.getByRole('button', { name: 'Archive: studio' }).click();
  await expect(desk.getByRole('columnheader', { name: 'studio' })).toHaveCount(0);
  await desk.getByLabel('Show archived plans').check();
  await expect(cells(desk, 'State').nth(2)).toHaveText('Archived');
  await desk.getByRole('button', { name: 'Unarchive: studio' }).click();
  await expect(cells(desk, 'State').nth(2)).toHaveText('Active');

  await desk.getByRole('button', { name: 'Delete: studio' }).click();
  await expect(dialog.getByRole('button', { name: 'Delete' })).toBeDisabled();
  await dialog.getByLabel('Type studio to confirm').fill('studio');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(desk.getByRole('columnheader', { name: 'studio' })).toHaveCount(0);
});

test('a plan in use cannot be deleted, and is archived instead', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', plan: 'professional' });
  await openPlans(desk);
  await expect(cells(desk, 'Licenses')).toHaveText(['0', '0', '1', '0']);
  await expect(cells(desk, 'Licenses').getByRole('link')).toHaveAttribute(
    'href',
    '#/licenses?plan=professional',
  );
  await expectAccessible(desk);

  await desk.getByRole('button', { name: 'Edit: professional' }).click();
  const dialog = desk.getByRole('dialog');
  await expect(dialog).toContainText('1 license uses this plan');
  await expect(dialog.getByLabel('Product')).toHaveAttribute('readonly');
  await desk.keyboard.press('Escape');

  await desk.getByRole('button', { name: 'Delete: professional' }).click();
  await expect(dialog).toContainText('1 license uses this plan');
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'Archive instead' }).click();
  await expect(desk.getByRole('columnheader', { name: 'professional' })).toHaveCount(0);
});
