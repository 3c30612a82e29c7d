import { readFileSync } from 'node:fs';
import type { Download, Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { goTo, task } from './tasks.ts';
import { alertWith, expect, issueLicense, test } from './test.ts';

const DAY_MS = 86_400_000;
const dayFromToday = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

async function downloaded(page: Page, panelName: string): Promise<{ name: string; text: string }> {
  const waiting = page.waitForEvent('download');
  await panel(page, panelName).getByRole('button', { name: 'Download CSV' }).click();
  const download: Download = await waiting;
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

test(
  'shows figures per day, plan and product, and downloads them',
  { tag: '@browser' },
  async ({ desk, server }) => {
    const key = await issueLicense(desk, { holder: 'Acme', plan: 'professional', product: 'studio' });
    await issueLicense(desk, { holder: 'Bolt', product: 'studio' });
    await issueLicense(desk, { holder: 'Cargo', product: 'viewer' });
    await server.cli('token', 'issue', '--license', key);
    const fingerprint = `sha256:${'0'.repeat(64)}`;
    const activated = await desk.request.post(`${server.api}activate/`, {
      data: { license_key: key, machine_fingerprint: fingerprint },
    });
    expect(activated.ok()).toBe(true);

    await desk.goto('/#/statistics');
    await expect(panel(desk, 'Activations per day')).toContainText('1 in 30 days');
    await expect(panel(desk, 'Activations per day').getByRole('img')).toHaveAttribute(
      'aria-label',
      `Activations per day; 1 in 30 days; Peak: 1 on ${dayFromToday(0)}`,
    );
    await expect(
      panel(desk, 'Licenses by product').getByRole('row', { name: 'studio 2 66.7%' }),
    ).toBeVisible();
    await expect(panel(desk, 'Authorization tokens')).toContainText('Active1');
    await expect(panel(desk, 'Devices')).toContainText('Active1');
    await expectAccessible(desk);

    expect(await downloaded(desk, 'Licenses by plan')).toEqual({
      name: 'licenses-by-plan.csv',
      text: '\ufeffplan,licenses\r\nstandard,2\r\nprofessional,1\r\n',
    });
    await expect(panel(desk, 'Activations per day')).toContainText('Previous 0');
    const perDay = await downloaded(desk, 'Activations per day');
    expect(perDay.name).toBe(`activations-${dayFromToday(-29)}-${dayFromToday(0)}.csv`);
    expect(perDay.text.split('\r\n')).toHaveLength(32);
    expect(perDay.text).toContain(`${dayFromToday(0)},1,${dayFromToday(-30)},0\r\n`);

    const picture = desk.waitForEvent('download');
    await panel(desk, 'Activations per day').getByRole('button', { name: 'Download picture' }).click();
    const png = readFileSync(await (await picture).path());
    expect(png.subarray(1, 4).toString()).toBe('PNG');

    await panel(desk, 'Licenses by plan').getByRole('link', { name: 'professional' }).click();
    await expect(desk.getByRole('gridcell', { name: 'Acme', exact: true })).toBeVisible();
    await expect(desk.getByRole('gridcell', { name: 'Bolt', exact: true })).toHaveCount(0);
  },
);

test('period, product and view are in the URL', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', product: 'studio' });
  await issueLicense(desk, { holder: 'Cargo', product: 'viewer' });
  await desk.goto('/#/statistics');
  await desk.getByRole('button', { name: '7 days' }).click();
  await expect(panel(desk, 'Activations per day')).toContainText('0 in 7 days');
  await desk.getByLabel('Product', { exact: true }).selectOption('viewer');
  await expect(panel(desk, 'Licenses by product').getByRole('row')).toHaveCount(2);
  await desk.getByLabel('Show as tables').check();
  await expect(panel(desk, 'Authorizations per day').getByRole('row')).toHaveCount(8);
  await expectAccessible(desk);
  await desk.reload();
  await expect(panel(desk, 'Authorizations per day').getByRole('row')).toHaveCount(8);
  await expect(desk.getByLabel('Product', { exact: true })).toHaveValue('viewer');

  await desk.getByLabel('From', { exact: true }).fill(dayFromToday(-1));
  await expect(panel(desk, 'Activations per day').getByRole('row')).toHaveCount(3);
  await desk.getByLabel('To', { exact: true }).fill(dayFromToday(-5));
  await expect(alertWith(desk, 'The start date must not be later than the end date.')).toBeVisible();
  await desk.getByRole('button', { name: '30 days' }).click();
  await expect(desk.getByRole('alert')).toHaveCount(0);
  await expect(panel(desk, 'Activations per day').getByRole('row')).toHaveCount(31);
});

test('the dates of a period can be typed', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/statistics');
  const from = desk.getByLabel('From', { exact: true });
  const to = desk.getByLabel('To', { exact: true });
  const first = await from.inputValue();
  await from.focus();
  await desk.keyboard.type('03152025');
  await expect(from).toHaveValue('2025-03-15');
  await expect(desk).toHaveURL(/[?&]from=2025-03-15(?:&|$)/u);
  await to.focus();
  await desk.keyboard.type('04132025');
  await expect(to).toHaveValue('2025-04-13');
  await expect(desk).toHaveURL(/[?&]to=2025-04-13(?:&|$)/u);
  await expect(panel(desk, 'Activations per day')).toContainText('in 30 days');

  // Parts of a date change nothing, stay while the figures change, and do not stay for good.
  await desk.getByRole('button', { name: '30 days' }).click();
  await from.focus();
  await desk.keyboard.press('Backspace');
  await expect(from).toHaveValue('');
  await issueLicense(desk, { holder: 'Acme', product: 'studio' });
  await expect(panel(desk, 'Licenses by product')).toContainText('studio');
  await expect(from).toHaveValue('');
  await expect(desk).not.toHaveURL(/from=/u);
  await desk.keyboard.press('Shift+Tab');
  await expect(from).toHaveValue(first);
});

test('a quarter is a preset, compared with as many days before', { tag: '@browser' }, async ({ desk }) => {
  // Midnight UTC between the two readings of the clock would change the quarter at most once in three months.
  const today = dayFromToday(0);
  const month = Math.floor((Number(today.slice(5, 7)) - 1) / 3) * 3 + 1;
  const first = `${today.slice(0, 5)}${String(month).padStart(2, '0')}-01`;
  await desk.goto('/#/statistics');
  await desk.getByRole('button', { name: 'This quarter' }).click();
  await expect(desk.getByLabel('From', { exact: true })).toHaveValue(first);
  await expect(desk.getByLabel('To', { exact: true })).toHaveValue(today);
  await desk.goto('/#/overview');
  await task(desk, 'download the figures of the last quarter', async () => {
    await goTo(desk, 'Statistics');
    await desk.getByRole('button', { name: 'Last quarter' }).click();
    const { text } = await downloaded(desk, 'Activations per day');
    expect(text.trimEnd().split('\r\n').length).toBeGreaterThan(90);
  });
  const dayBefore = new Date(Date.parse(first) - DAY_MS).toISOString().slice(0, 10);
  await expect(desk.getByLabel('To', { exact: true })).toHaveValue(dayBefore);
  await expect(desk.getByRole('button', { name: 'Last quarter' })).toHaveAttribute('aria-pressed', 'true');
  await expect(panel(desk, 'Activations per day')).toContainText(/in 9[0-2] days/u);
});

test('a period of ten years is compared with as many before', async ({ desk }) => {
  await desk.goto('/#/statistics?from=2019-01-01&to=2028-12-31');
  for (const title of ['Activations per day', 'Authorizations per day']) {
    await expect(panel(desk, title)).toContainText('in 3,653 days');
    await expect(panel(desk, title)).toContainText('Previous 0');
  }
  // The ten years before were already counted, for the comparison.
  await desk.goto('/#/statistics?from=2008-12-31&to=2018-12-31');
  await expect(panel(desk, 'Activations per day')).toContainText('in 3,653 days');
  await desk.goto('/#/statistics?from=1970-01-02&to=1970-01-31');
  await expect(panel(desk, 'Activations per day')).toContainText('in 30 days');
});

test('the calendar ends with the year 9999, and has no other days', async ({ desk }) => {
  await desk.goto('/#/statistics?to=9999-12-31');
  await expect(panel(desk, 'Activations per day')).toContainText('in 30 days');
  await expect(desk.getByLabel('From', { exact: true })).toHaveValue('9999-12-02');
  await expect(desk.getByLabel('To', { exact: true })).toHaveValue('9999-12-31');
  await expect(desk.getByRole('alert')).toHaveCount(0);

  // Ignored, as other text is.
  await desk.goto('/#/statistics?from=2027-02-30&to=2027-02-31');
  await expect(desk.getByLabel('To', { exact: true })).toHaveValue(dayFromToday(0));
  await expect(panel(desk, 'Activations per day')).toContainText('in 30 days');
  await expect(desk.getByRole('button', { name: '30 days' })).toHaveAttribute('aria-pressed', 'true');
  await expect(desk.getByRole('alert')).toHaveCount(0);
});
