// Every screen can be used at the width of a phone, and at 400 % zoom of a 1280 px window (WCAG 1.4.10).
import type { Locator, Page } from '@playwright/test';
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
  ['settings?tab=keys', (page) => page.getByRole('table', { name: 'Signing keys' })],
  ['settings?tab=sessions', (page) => page.getByRole('table', { name: 'Sessions' })],
  ['settings?tab=backup', (page) => page.getByRole('region', { name: 'Create a backup' })],
  ['settings?tab=retention', (page) => page.getByRole('table', { name: 'Retention' })],
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

for (const [name, size] of [
  ['a phone', { width: 390, height: 844 }],
  ['400 % zoom', { width: 320, height: 256 }],
] as const) {
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

test('the tables of the settings scroll by keyboard on a phone', async ({ desk }) => {
  await desk.setViewportSize({ width: 390, height: 844 });
  for (const [tab, name] of [
    ['keys', 'Signing keys'],
    ['sessions', 'Sessions'],
    ['servers', 'Servers'],
    ['retention', 'Retention'],
  ] as const) {
    await desk.goto(`/#/settings?tab=${tab}`);
    await expect(desk.getByRole('tab', { name })).toBeInViewport({ ratio: 1 });
    const scrolled = desk.getByRole('group', { name, exact: true });
    await scrolled.focus();
    await expect(scrolled).toBeFocused();
    await expect(desk.getByRole('table', { name, exact: true })).toBeVisible();
    await expectAccessible(desk);
  }
});
