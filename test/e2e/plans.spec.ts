import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { goTo, task } from './tasks.ts';
import { expect, issueLicense, test } from './test.ts';

/** The cells of a row, one for each plan. */
const cells = (page: Page, row: string) =>
  page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: row, exact: true }) })
    .getByRole('cell');

/** From the menu in the column of a plan. */
async function choose(page: Page, plan: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `More actions for ${plan}`, exact: true }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

async function openPlans(page: Page): Promise<void> {
  await page.goto('/#/plans');
  await expect(page.getByRole('columnheader').first()).toBeVisible();
}

test('plans are compared, created, edited, archived and deleted', async ({ desk }) => {
  const dialog = desk.getByRole('dialog');
  await task(desk, 'create a plan', async () => {
    await goTo(desk, 'Plans');
    await desk.getByRole('button', { name: 'New plan' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('basic');
    await dialog.getByLabel('Tier').fill('40');
    await dialog.getByRole('button', { name: 'Create plan' }).click();
    await expect(desk.getByRole('columnheader', { name: 'basic' })).toBeVisible();
  });
  await choose(desk, 'basic', 'Delete');
  await dialog.getByLabel('Type basic to confirm').fill('basic');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(cells(desk, 'Tier')).toHaveText(['0', '10', '20', '30']);
  await expect(cells(desk, 'Seats')).toHaveText(['1', '1', '5', 'Unlimited']);

  await desk.getByRole('button', { name: 'New plan' }).click();
  await expect(dialog.getByLabel('Name', { exact: true })).toBeFocused();
  await dialog.getByLabel('Name', { exact: true }).fill('Studio');
  await dialog.getByLabel('Display name').fill('Studio für Ärzte');
  await dialog.getByLabel('Tier').fill('15');
  await dialog.getByLabel('Unlimited seats').check();
  await dialog.getByLabel('Entitlements').fill('export\nprint');
  await dialog.getByRole('button', { name: 'Create plan' }).click();
  await expect(dialog.getByRole('alert')).toContainText(
    'Name must be 1 to 64 lowercase letters, digits or hyphens',
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

  await choose(desk, 'studio', 'Edit');
  await dialog.getByLabel('Grace period (days)').fill('3');
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await expect(cells(desk, 'Grace period').nth(2)).toHaveText('3 days');

  await choose(desk, 'studio', 'Archive');
  await expect(desk.getByRole('columnheader', { name: 'studio' })).toHaveCount(0);
  await desk.getByLabel('Show archived plans').check();
  await expect(cells(desk, 'State').nth(2)).toHaveText('Archived');
  await choose(desk, 'studio', 'Unarchive');
  await expect(cells(desk, 'State').nth(2)).toHaveText('Active');

  await choose(desk, 'studio', 'Delete');
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

  await choose(desk, 'professional', 'Edit');
  const dialog = desk.getByRole('dialog');
  await expect(dialog).toContainText('1 license uses this plan');
  await expect(dialog.getByLabel('Product')).toHaveAttribute('readonly');
  await desk.keyboard.press('Escape');

  await choose(desk, 'professional', 'Delete');
  await expect(dialog).toContainText('1 license uses this plan');
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'Archive instead' }).click();
  await expect(desk.getByRole('columnheader', { name: 'professional' })).toHaveCount(0);
});

test('a plan beyond the edge is hinted at, and archiving is undone', async ({ desk }) => {
  const createPlan = async (index: number) => {
    const name = `plan-${index}`;
    const data = { name, display_name: name, tier: 40 + index, duration_days: 30, max_activations: 1 };
    const response = await desk.request.post('/admin/api/plans/', { data });
    expect(response.ok(), await response.text()).toBe(true);
  };
  await desk.setViewportSize({ width: 1100, height: 700 });
  for (let index = 0; index < 4; index += 1) await createPlan(index);
  await openPlans(desk);
  const table = desk.getByRole('group', { name: 'Plan comparison' });
  const isClipped = () => table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  expect(await isClipped()).toBe(true);
  expect(await table.evaluate((element) => getComputedStyle(element).backgroundAttachment)).toContain(
    'local',
  );
  await expectAccessible(desk);

  await choose(desk, 'plan-0', 'Archive');
  const results = desk.getByRole('log', { name: 'Results' });
  // The pointer keeps the result on the page.
  await results.getByText('Plan plan-0 archived', { exact: true }).hover();
  await expect(desk.getByRole('columnheader', { name: 'plan-0' })).toHaveCount(0);
  await results.getByRole('button', { name: 'Undo' }).click();
  await expect(desk.getByRole('columnheader', { name: 'plan-0' })).toBeVisible();
});

test('plans with the same display name can be told apart where one is chosen', async ({ desk }) => {
  for (const name of ['team-2025', 'team-2026']) {
    const data = { name, display_name: 'Team', duration_days: 30, licensing: 'floating', seats: 5 };
    const response = await desk.request.post('/admin/api/plans/', { data });
    expect(response.ok(), await response.text()).toBe(true);
  }
  await desk.goto('/#/licenses?new=1');
  const plan = desk.getByRole('dialog').getByLabel('Plan', { exact: true });
  await plan.selectOption({ label: 'Team (team-2026): 30 days, 5 floating seats' });
  await desk.goto('/#/floating?plan=team-2025');
  await expect(desk.getByRole('button', { name: 'Plan: Team (team-2025)' })).toBeVisible();
});
