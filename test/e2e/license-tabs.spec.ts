import type { Locator } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

const DAY_MS = 86_400_000;
const FINGERPRINT = `sha256:${'4f'.repeat(32)}`;

test('five tabs fit on one line, and every view behind them has its address', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  const tab = (name: string) => inspector.getByRole('tab', { name });
  for (const [address, name, view] of [
    ['tokens', 'Access', 'Tokens'],
    ['certificates', 'Access', 'Certificates'],
    ['file', 'Access', 'License file'],
    ['deliveries', 'Activity', 'Deliveries'],
    ['timeline', 'Activity', 'History'],
  ] as const) {
    await desk.goto(`/#/licenses?open=1&tab=${address}`);
    await expect(tab(name)).toHaveAttribute('aria-selected', 'true');
    const shown = inspector.getByRole('button', { name: view, exact: true });
    await expect(shown).toHaveAttribute('aria-pressed', 'true');
    await expectAccessible(desk);
  }
  await tab('Activity').focus();
  await desk.keyboard.press('ArrowLeft');
  await expect(tab('Access')).toBeFocused();
  await expect(inspector.getByRole('button', { name: 'Issue token' })).toBeVisible();

  for (const language of ['English', 'Deutsch']) {
    await desk.setViewportSize({ width: 1440, height: 900 });
    await desk.getByLabel(/Language|Sprache/u).selectOption(language);
    for (const width of [1440, 900, 390]) {
      await desk.setViewportSize({ width, height: 844 });
      await expect(inspector.getByRole('tab')).toHaveCount(5);
      for (const each of await inspector.getByRole('tab').all())
        await expect(each, `${language} at ${width} px`).toBeInViewport({ ratio: 1 });
    }
  }
});

test('an entry of the history stays open while new ones arrive', async ({ desk }) => {
  const license = await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/licenses?open=1&tab=timeline');
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  const entries = inspector.getByRole('tabpanel').getByRole('listitem');
  await expect(entries).toHaveCount(1);
  await entries.locator('summary').press('Enter');
  await expect(entries.getByRole('definition').first()).toBeVisible();
  const response = await desk.request.put('/admin/api/licenses/', { data: { ref: license, notes: 'Late' } });
  expect(response.ok(), await response.text()).toBe(true);
  await expect(entries).toHaveCount(2);
  await expect(entries.last().getByRole('definition').first()).toBeVisible();
  await expect(entries.last().locator('summary')).toBeFocused();
});

/** `20 Nov 2026, 14:40` in UTC */
async function toMinute(time: Locator): Promise<string> {
  const at = new Date((await time.getAttribute('datetime')) ?? '');
  const day = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat('en-GB', day).format(at)}, ${at.toISOString().slice(11, 16)}`;
}

test('devices and the history show when something happened, and how long ago', async ({ desk, server }) => {
  const license = await issueLicense(desk, { holder: 'Acme' });
  for (const [address, ref] of [
    [`${server.api}activate/`, { license_key: license }],
    ['/admin/api/licenses/release/', { ref: license }],
  ] as const) {
    const data = { ...ref, machine_fingerprint: FINGERPRINT };
    const response = await desk.request.post(address, { data });
    expect(response.ok(), await response.text()).toBe(true);
  }
  await desk.clock.setFixedTime(Date.now() + 3 * DAY_MS);
  await desk.goto('/#/licenses?open=1&tab=devices');
  await desk.reload();
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  const panel = inspector.getByRole('tabpanel');
  const released = panel.getByRole('listitem').getByRole('time').first();
  await expect(released).toHaveText(`${await toMinute(released)} 3 days ago`);
  await expectAccessible(desk);

  await desk.goto('/#/licenses?open=1&tab=timeline');
  const entry = panel.getByRole('listitem').filter({ hasText: 'released' }).first();
  const happened = entry.locator('summary').getByRole('time');
  await expect(happened).toHaveText(`${await toMinute(happened)} 3 days ago`);
  // By keyboard, the entry shows the tooltip of its date.
  await entry.locator('summary').focus();
  await desk.keyboard.press('Tab');
  await desk.keyboard.press('Shift+Tab');
  const exact = desk.getByRole('tooltip');
  const utc = (await happened.getAttribute('title')) ?? '';
  await expect(exact).toHaveText(utc);
  await desk.keyboard.press('Enter');
  const time = entry.getByRole('definition').first();
  await expect(time).toHaveText(new RegExp(`${utc.slice(11, 19)}$`, 'u'));
  await expectAccessible(desk);
});
