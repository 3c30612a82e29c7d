import type { Locator } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

const DAY_MS = 86_400_000;

test('an expiry date stands out in its last 30 days and once it has passed, whatever the state', async ({
  desk,
}) => {
  await issueLicense(desk, { holder: 'Later', days: 400 });
  const end = new Date(Date.now() + 10 * DAY_MS).toISOString();
  await issueLicense(desk, { holder: 'Soon', expires_at: end });
  const expects = (tone: RegExp, icons: number) => async (date: Locator) => {
    await expect(date).toHaveClass(tone);
    await expect(date.locator('svg')).toHaveCount(icons);
  };
  const isPlain = expects(/^date$/u, 0);
  const isAmber = expects(/^date warn$/u, 1);
  const isRed = expects(/^date bad$/u, 1);
  const inList = (holder: string) => desk.getByRole('row').filter({ hasText: holder }).locator('time').last();
  const inspector = desk.getByRole('complementary', { name: 'Soon' });
  const inStrip = inspector.locator('.strip time').first();
  const inSummary = inspector.getByRole('tabpanel').locator(`time[datetime="${end}"]`);

  await expect(desk.getByRole('region', { name: 'Expiring licenses' }).locator('time')).toHaveCount(1);
  await isAmber(desk.getByRole('region', { name: 'Expiring licenses' }).locator('time'));
  await desk.goto('/#/licenses?open=2');
  await isPlain(inList('Later'));
  for (const date of [inList('Soon'), inStrip, inSummary]) await isAmber(date);
  await expectAccessible(desk);

  // Two days into the grace period, the license still works.
  await desk.clock.setFixedTime(Date.now() + 12 * DAY_MS);
  await desk.reload();
  await isAmber(inList('Soon'));
  await desk.clock.setFixedTime(Date.now() + 60 * DAY_MS);
  await desk.reload();
  await isPlain(inList('Later'));
  for (const date of [inList('Soon'), inStrip, inSummary]) await isRed(date);
  await expectAccessible(desk);
});

test('the exact times of dates are reached by one tab stop for each region', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', days: 3 });
  await desk.goto('/#/licenses?open=1');
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  const panel = inspector.getByRole('tabpanel');
  const dates = panel.getByRole('time');
  await expect(dates).toHaveCount(3);
  const exact = desk.getByRole('tooltip');
  await expect(exact).toHaveCount(0);
  await expectAccessible(desk);
  await inspector.getByRole('tab', { name: 'Summary' }).focus();
  await desk.keyboard.press('Tab');
  await expect(dates.first()).toBeFocused();
  await expect(dates.first()).toHaveAccessibleDescription(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/u);
  await expect(exact).toHaveText((await dates.first().getAttribute('title')) ?? '');
  await expect(exact).toBeInViewport({ ratio: 1 });

  // The arrow keys lead to the other dates of the region.
  await desk.keyboard.press('ArrowRight');
  await expect(dates.nth(1)).toBeFocused();
  await desk.keyboard.press('Shift+ArrowRight');
  await expect(dates.nth(1)).toBeFocused();
  await desk.keyboard.press('ArrowRight');
  await desk.keyboard.press('ArrowRight');
  await expect(dates.nth(2)).toBeFocused();
  await desk.keyboard.press('ArrowLeft');
  await expect(dates.nth(1)).toBeFocused();
  await expect(exact).toHaveText((await dates.nth(1).getAttribute('title')) ?? '');
  // Escape dismisses what it shows, and only then closes the inspector.
  await desk.keyboard.press('Escape');
  await expect(exact).toHaveCount(0);
  await expect(dates.nth(1)).toBeFocused();

  await desk.keyboard.press('Shift+Tab');
  await expect(inspector.getByRole('tab', { name: 'Summary' })).toBeFocused();
  await desk.keyboard.press('Tab');
  await expect(dates.nth(1)).toBeFocused();
  await desk.keyboard.press('Tab');
  expect(await panel.evaluate((element) => element.contains(document.activeElement))).toBe(false);

  // Where a date is part of a link, the link shows it.
  await desk.goto('/#/overview');
  const entry = desk
    .getByRole('region', { name: 'Activity' })
    .getByRole('link')
    .filter({ has: desk.locator('time') });
  await expect(entry.first().locator('time')).not.toHaveAttribute('tabindex');
  await entry.first().focus();
  await desk.keyboard.press('Tab');
  await desk.keyboard.press('Shift+Tab');
  await expect(exact).toContainText('UTC');
  await desk.keyboard.press('Escape');
  await expect(exact).toHaveCount(0);
});

test.describe('with a touch screen', () => {
  test.use({ hasTouch: true });

  test('the exact time of a date is shown on touch', { tag: '@browser' }, async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme', days: 3 });
    await desk.goto('/#/licenses?open=1');
    const inspector = desk.getByRole('complementary', { name: 'Acme' });
    const date = inspector.getByRole('term').filter({ hasText: 'Expires' }).locator('..').getByRole('time');
    const exact = desk.getByRole('tooltip');
    await inspector.getByRole('button', { name: 'Renew' }).focus();
    await date.last().tap();
    await expect(exact).toHaveText((await date.last().getAttribute('title')) ?? '');
    await inspector.getByText('Grace period ends').tap();
    await expect(exact).toHaveCount(0);

    // A touch on an entry of the history opens it; the time in it has the tooltip.
    await desk.goto('/#/licenses?open=1&tab=timeline');
    const entry = inspector.getByRole('listitem').first();
    await entry.locator('summary').getByRole('time').tap();
    await expect(exact).toHaveCount(0);
    const time = entry.getByRole('definition').first().getByRole('time');
    await time.tap();
    await expect(exact).toHaveText((await time.getAttribute('title')) ?? '');
  });
});
