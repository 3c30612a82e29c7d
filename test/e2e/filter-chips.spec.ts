// The active filters of a list, as chips that remove them.
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

const chips = (page: Page) => page.getByRole('list', { name: 'Active filters' });
const remove = (page: Page, filter: string) =>
  chips(page).getByRole('button', { name: `Remove filter ${filter}`, exact: true });
const announced = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });
const address = (page: Page) => new URL(page.url()).hash;

const FILTERED = '/#/licenses?state=active&plan=standard&expires_within_days=30&search=firma';

test('each filter of the licenses is a chip that removes it', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Firma 500 GmbH' });
  await desk.goto(FILTERED);
  await expect(chips(desk).getByRole('listitem')).toHaveText([
    'State Active',
    'Plan standard',
    'Expires Within 30 days',
    'Clear all',
  ]);
  await expectAccessible(desk);

  // By keyboard; the focus goes to the next chip, and from the last one to the one before it.
  await remove(desk, 'Plan: standard').focus();
  await desk.keyboard.press('Enter');
  await expect(remove(desk, 'Expires: Within 30 days')).toBeFocused();
  await expect(announced(desk, 'Removed filter Plan: standard')).toHaveCount(1);
  await expect(desk.getByRole('combobox', { name: 'Plan' })).toHaveValue('');
  await desk.keyboard.press('Space');
  await expect(remove(desk, 'State: Active')).toBeFocused();
  await expect(chips(desk).getByRole('button', { name: 'Clear all' })).toHaveCount(0);
  await desk.keyboard.press('Enter');
  await expect(chips(desk)).toHaveCount(0);
  await expect(desk.getByRole('searchbox')).toBeFocused();
  expect(address(desk)).toBe('#/licenses?search=firma');
  await expect(desk.getByRole('grid').getByRole('row')).toHaveCount(2);
});

test('all chips go at once, and a reload keeps the filters that are left', async ({ desk }) => {
  await desk.goto(FILTERED);
  await remove(desk, 'State: Active').click();
  await expect(chips(desk).getByRole('listitem')).toHaveCount(3);
  await desk.reload();
  await expect(chips(desk).getByRole('listitem')).toHaveText([
    'Plan standard',
    'Expires Within 30 days',
    'Clear all',
  ]);
  await chips(desk).getByRole('button', { name: 'Clear all' }).click();
  await expect(chips(desk)).toHaveCount(0);
  await expect(announced(desk, 'All filters removed')).toHaveCount(1);
  await expect(desk.getByRole('searchbox')).toBeFocused();
  await expect(desk.getByRole('searchbox')).toHaveValue('firma');
});

test('a value that does not filter has no chip', async ({ desk }) => {
  await desk.goto('/#/licenses?state=lost&plan=standard');
  await expect(chips(desk).getByRole('listitem')).toHaveText(['Plan standard']);
});

test('a number of days from the URL is shown as it is', async ({ desk }) => {
  await desk.goto('/#/licenses?expires_within_days=1');
  await expect(chips(desk).getByRole('listitem')).toHaveText(['Expires Within 1 day']);
  await desk.goto('/#/licenses?expires_within_days=soon');
  await expect(chips(desk).getByRole('listitem')).toHaveText(['Expires soon']);
});

test('other lists show their filters by name', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Ústav soudního lékařství' });
  await desk.goto('/#/certificates?license=1&status=revoked');
  await expect(chips(desk).getByRole('listitem')).toHaveText([
    'License Ústav soudního lékařství',
    'State Revoked',
    'Clear all',
  ]);
  await desk.goto('/#/audit?action=license.issued&actor=mia&from=2026-11-20');
  await expect(chips(desk).getByRole('listitem')).toHaveText([
    'Action license.issued',
    'Actor mia',
    'From 20 Nov 2026',
    'Clear all',
  ]);
  await desk.goto('/#/failed-events?since=2026-11-20');
  await expect(chips(desk).getByRole('listitem')).toHaveText(['Since 20 Nov 2026']);
  await desk.goto('/#/floating?view=leases&license=1&user=mia&state=borrowed');
  await expect(chips(desk).getByRole('listitem')).toHaveText([
    'License Ústav soudního lékařství',
    'User mia',
    'State Borrowed',
    'Clear all',
  ]);
  await remove(desk, 'License: Ústav soudního lékařství').click();
  await expect(remove(desk, 'User: mia')).toBeFocused();
});

test('on a phone the chips are one line with large targets', async ({ desk }) => {
  await desk.setViewportSize({ width: 390, height: 844 });
  await desk.goto(FILTERED);
  await expect(remove(desk, 'Plan: standard')).toBeVisible();
  const boxes = await chips(desk).evaluate((list) =>
    [...list.querySelectorAll('li button')].map((button) => {
      const { y, width, height } = button.getBoundingClientRect();
      return { y, width, height };
    }),
  );
  expect(boxes).toHaveLength(4);
  for (const { width, height } of boxes) expect(Math.min(width, height)).toBeGreaterThanOrEqual(38);
  expect(Math.max(...boxes.map(({ y }) => y)) - Math.min(...boxes.map(({ y }) => y))).toBeLessThan(4);
  await remove(desk, 'Expires: Within 30 days').click();
  await expect(remove(desk, 'Plan: standard')).toBeFocused();
});

test('the chips speak German', async ({ desk }) => {
  await desk.evaluate(() => localStorage.setItem('license-desk-language', 'de'));
  await desk.goto(FILTERED);
  await desk.reload();
  const list = desk.getByRole('list', { name: 'Aktive Filter' });
  await expect(list.getByRole('listitem')).toHaveText([
    'Status Aktiv',
    'Plan standard',
    'Läuft ab Binnen 30 Tagen',
    'Alle entfernen',
  ]);
  await list.getByRole('button', { name: 'Filter Plan: standard entfernen' }).click();
  await expect(list.getByRole('listitem')).toHaveCount(3);
});
