// What was entered in the settings is neither lost nor refused without a word.
import type { Page } from '@playwright/test';
import { gate } from './gate.ts';
import { expect, test } from './test.ts';

const saveBar = (page: Page) => page.getByRole('group', { name: 'Unsaved changes' });
const save = (page: Page) => saveBar(page).getByRole('button', { name: 'Save changes' }).click();

test(
  'Save opens the tab of the refused setting, and Discard forgets why',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.goto('/#/settings');
    const limit = desk.getByLabel('Rate limit: token checks');
    await limit.fill('lots');
    await desk.getByRole('tab', { name: 'Language' }).click();
    await save(desk);
    await expect(desk.getByRole('tab', { name: 'Network' })).toHaveAttribute('aria-selected', 'true');
    await expect(desk.getByRole('alert')).toContainText('must be 0 to 1000000');
    await saveBar(desk).getByRole('button', { name: 'Discard' }).click();
    await expect(limit).toHaveValue('60');
    await expect(limit).not.toHaveAttribute('aria-invalid', 'true');
    await expect(desk.getByRole('alert')).toHaveCount(0);
  },
);

test('an empty address is not saved as the default one', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/settings');
  await desk.getByRole('radio', { name: 'One address' }).check();
  await desk.getByRole('tab', { name: 'Language' }).click();
  await save(desk);
  await expect(desk.getByRole('tab', { name: 'Network' })).toHaveAttribute('aria-selected', 'true');
  await expect(desk.getByText('This field is required.')).toBeVisible();
  await expect(saveBar(desk)).toBeVisible();
});

test('what is entered during a save is kept', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/settings');
  const [asked, released] = [gate(), gate()];
  await desk.route('**/admin/api/settings/', async (route) => {
    if (route.request().method() !== 'GET') {
      asked.open();
      await released.isOpen;
    }
    await route.continue();
  });
  await desk.getByLabel('Rate limit: token checks').fill('70');
  await save(desk);
  await asked.isOpen;
  await desk.getByLabel('Rate limit: token checks').fill('80');
  released.open();
  await expect(desk.getByText('60 until the next restart.')).toBeVisible();
  await expect(saveBar(desk)).toContainText('Rate limit: token checks: 70 → 80');
});
