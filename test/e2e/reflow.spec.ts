// Every screen can be used at the width of a phone, and at 400 % zoom of a 1280 px window (WCAG 1.4.10).
import type { Locator, Page } from '@playwright/test';
import { SETTINGS_TABS } from '../../renderer/src/features/settings/settings-tabs.ts';
import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

/** Each with what shows that its content is there. */
const SCREENS: [address: string, content: (page: Page) => Locator][] = [
  ['overview', (page) => page.getByRole('region', { name: 'Expiring licenses' }).getByRole('listitem')],
  ['licenses', (page) => page.getByRole('grid')],
  ['licenses?open=1', (page) => page.getByRole('complementary').getByRole('tablist')],
  ['floating', (page) => page.getByRole('grid', { name: 'Pools' })],
  ['floating?open=2', (page) => page.getByRole('complementary').getByRole('region', { name: 'Seats' })],
  ['floating?view=leases', (page) => page.getByText('No leases.')],
  ['floating?view=denials', (page) => page.getByText('No denials.')],
  ['floating?view=usage', (page) => page.getByRole('region', { name: 'Choose a floating license.' })],
  ['floating?view=usage&license=2', (page) => page.getByRole('region', { name: 'Denied and queued' })],
  ['floating?view=rules&license=2', (page) => page.getByRole('region', { name: 'Try the rules' })],
  ['licenses?open=2&tab=seats', (page) => page.getByRole('region', { name: 'Leases', exact: true })],
  ['air-gap', (page) => page.getByLabel('Activation request')],
  ['air-gap?view=check', (page) => page.getByRole('tabpanel')],
  ['authorization-tokens', (page) => page.getByRole('heading', { level: 1 })],
  ['certificates', (page) => page.getByRole('tabpanel')],
  ['certificates?view=authority', (page) => page.getByRole('tabpanel')],
  ['certificates?view=crl', (page) => page.getByRole('grid', { name: 'Revoked certificates' })],
  ['plans', (page) => page.getByRole('table', { name: 'Plan comparison' })],
  ['webhooks', (page) => page.getByRole('grid', { name: 'Webhooks' })],
  ['webhooks?open=1', (page) => page.getByRole('group', { name: 'State' })],
  ['webhooks/1', (page) => page.getByRole('group', { name: 'State' })],
  ['webhooks?view=catalogue', (page) => page.getByRole('tabpanel')],
  ['failed-events', (page) => page.getByRole('heading', { level: 1 })],
  ['api-access', (page) => page.getByRole('grid', { name: 'API tokens' })],
  ['statistics', (page) => page.getByRole('region', { name: 'Webhook deliveries' })],
  ['audit', (page) => page.getByRole('grid')],
  ['settings', (page) => page.getByRole('radio', { name: 'Network' })],
  ['settings?tab=webhooks', (page) => page.getByLabel('Webhook timeout (seconds)')],
  ['settings?tab=keys', (page) => page.getByRole('list', { name: 'Signing keys' })],
  ['settings?tab=sessions', (page) => page.getByRole('list', { name: 'Sessions' })],
  ['settings?tab=backup', (page) => page.getByRole('region', { name: 'Create a backup' })],
  ['settings?tab=retention', (page) => page.getByRole('list', { name: 'Retention' })],
  ['first-run', (page) => page.getByLabel('Product ID')],
];

test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

/** What reaches beyond the page's edge without a scroll area of its own around it. */
const overflowing = (page: Page) =>
  page.evaluate(() => {
    const isScrolled = (element: Element | null): boolean => {
      if (!element || element.tagName === 'MAIN') return false;
      const { overflowX } = getComputedStyle(element);
      return overflowX !== 'visible' || isScrolled(element.parentElement);
    };
    return [...document.querySelectorAll('main, main *, header *')]
      .filter((element) => {
        const { right, width, height } = element.getBoundingClientRect();
        const isSeen = width > 1 && height > 1 && element.checkVisibility({ opacityProperty: true });
        return isSeen && right > innerWidth + 1 && !isScrolled(element.parentElement);
      })
      .map((element) => `${element.tagName}.${String(element.getAttribute('class'))}`);
  });

/** Rows that show nothing, for lack of columns on a narrow page. */
const emptyRows = (page: Page) =>
  page.evaluate(
    () =>
      [...document.querySelectorAll<HTMLElement>('[role="grid"] [role="row"]')].filter(
        (row) => row.checkVisibility() && row.innerText.trim() === '',
      ).length,
  );

const SIZES = [
  ['a phone', { width: 390, height: 844 }],
  ['400 % zoom', { width: 320, height: 256 }],
] as const;

for (const [name, size] of SIZES) {
  test(`no screen scrolls sideways on ${name}`, async ({ desk }) => {
    await issueLicense(desk, { holder: 'Österreichische Gesellschaft für Evidenzsicherung', days: 3 });
    const plan = { name: 'pool', licensing: 'floating', seats: 25 };
    expect((await desk.request.post('/admin/api/plans/', { data: plan })).ok()).toBe(true);
    await issueLicense(desk, { holder: 'Forschungsgemeinschaft Strömungssimulation', plan: 'pool' });
    const records = [
      ['webhooks/register', { url: `https://127.0.0.1:1/${'long/'.repeat(20)}`, scope: 'all' }],
      ['api-tokens', { name: 'shop-backend', role: 'integrator' }],
      ['certs/generate', { license_id: 1, common_name: 'workstation 1' }],
      ['certs/revoke', { id: 1, reason: 'superseded' }],
    ] as const;
    for (const [path, data] of records) {
      const response = await desk.request.post(`/admin/api/${path}/`, { data });
      expect(response.ok(), await response.text()).toBe(true);
    }
    await desk.setViewportSize(size);
    for (const [address, content] of SCREENS) {
      await desk.goto(`/#/${address}`);
      await expect(content(desk), address).toBeVisible();
      await expect.poll(() => overflowing(desk), { message: address }).toEqual([]);
      expect(await emptyRows(desk), address).toBe(0);
    }
    await desk.goto('/#/licenses');
    await desk.getByRole('checkbox', { name: /^Select Forsch/u }).check();
    await expect(desk.getByRole('button', { name: 'Clear selection' })).toBeInViewport({ ratio: 1 });
    await expect(desk.getByRole('button', { name: 'Revoke' })).toBeInViewport({ ratio: 1 });
  });
}

/** Areas of the page that scroll sideways on their own. */
const scrollingSideways = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter(
        (element) =>
          !element.matches('input, textarea') &&
          element.checkVisibility() &&
          ['auto', 'scroll'].includes(getComputedStyle(element).overflowX) &&
          element.scrollWidth > element.clientWidth + 1,
      )
      .map((element) => `${element.tagName}.${String(element.getAttribute('class'))}`),
  );

/** Each with what it lists; the others are forms. */
const STACKED: Partial<Record<(typeof SETTINGS_TABS)[number], string>> = {
  keys: 'Signing keys',
  sessions: 'Sessions',
  servers: 'Servers',
  retention: 'Retention',
};

for (const [name, size] of SIZES) {
  test(`the settings stack on ${name}`, async ({ desk }) => {
    await desk.setViewportSize(size);
    for (const tab of SETTINGS_TABS.filter((one) => one !== 'app')) {
      await desk.goto(`/#/settings?tab=${tab}`);
      await expect(desk.locator('#settings-panel'), tab).toBeVisible();
      await expect(desk.getByText('Loading')).toHaveCount(0);
      const list = STACKED[tab];
      if (list)
        await expect(desk.getByRole('list', { name: list }).getByRole('listitem').first()).toBeVisible();
      const details = desk.getByText('Details: configuration names and sources');
      for (const one of await details.all()) await one.click();
      await expect.poll(() => overflowing(desk), { message: tab }).toEqual([]);
      expect(await scrollingSideways(desk), tab).toEqual([]);
      await expectAccessible(desk);
    }
  });
}

test('on a phone, a section of the settings is chosen from a list', async ({ desk }) => {
  await desk.setViewportSize({ width: 390, height: 844 });
  await desk.goto('/#/settings');
  const sections = desk.getByRole('combobox', { name: 'Settings', exact: true });
  await expect(sections).toHaveValue('network');
  await sections.selectOption('Signing keys');
  const key = desk.getByRole('list', { name: 'Signing keys' }).getByRole('listitem');
  await expect(key).toContainText('Active');
  await expect(key.getByText('State')).toBeVisible();
  // Without a value there is no label either.
  await expect(key.getByText('Retired')).toBeHidden();
  await key.getByRole('button', { name: /^Distrust/u }).click();
  await desk.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await desk.reload();
  await expect(sections).toHaveValue('keys');
  await desk.setViewportSize({ width: 1100, height: 700 });
  await expect(desk.getByRole('table', { name: 'Signing keys' })).toBeVisible();
  await expect(desk.getByRole('tab', { name: 'Signing keys' })).toHaveAttribute('aria-selected', 'true');
});
