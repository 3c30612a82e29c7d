// Every control is reached with the Tab key, in view, with a name and a visible focus (WCAG 2.1.1, 2.4.7, 2.4.11, 4.1.2).
import type { Page } from '@playwright/test';
import { firstOrAll } from '../helpers/long-lane.ts';
import { expectAccessible } from './accessibility.ts';
import { createRecords, SCREENS } from './screens.ts';
import { chooseAction, expect, issueLicense, test } from './test.ts';

test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

/** Some screens have long lists, whose rows are alike. */
const MOST_STEPS = 60;
const PHONE = { width: 390, height: 844 };

/**
 * What is wrong with the element that has the focus; null where the focus has left the page. From its end, Chromium goes to
 * its beginning at once, or to the body in between.
 */
const faultsOfFocused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null;
    const seen = globalThis as { lastFocused?: Element };
    const { lastFocused = null } = seen;
    if (!element || element === document.body || element === lastFocused) return null;
    if (lastFocused && element.compareDocumentPosition(lastFocused) & Node.DOCUMENT_POSITION_FOLLOWING)
      return null;
    seen.lastFocused = element;
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const isInView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
    const clamp = (at: number, end: number) => Math.min(Math.max(at, 1), end - 1);
    const front = document.elementFromPoint(
      clamp((left + right) / 2, innerWidth),
      clamp((top + bottom) / 2, innerHeight),
    );
    const { labels } = element as HTMLInputElement;
    const isOfControl = (found: Element) =>
      element.contains(found) ||
      found.contains(element) ||
      [...(labels ?? [])].some((one) => one.contains(found));
    /** The ring may be around what frames the control, such as a card. */
    const hasRing = (one: Element | null, above = 0): boolean =>
      one !== null &&
      above < 3 &&
      (getComputedStyle(one).outlineStyle !== 'none' || hasRing(one.parentElement, above + 1));
    const name =
      element.getAttribute('aria-label') ??
      element.getAttribute('aria-labelledby') ??
      (element.innerText || element.title || labels?.[0]?.textContent);
    const faults = [
      ...(isInView ? [] : ['out of view']),
      ...(front && !isOfControl(front) ? [`covered by ${front.tagName}.${front.className}`] : []),
      ...(hasRing(element) ? [] : ['no focus ring']),
      ...(name ? [] : ['no name']),
    ];
    return faults.map((fault) => `${element.tagName}.${element.className} ${String(name)}: ${fault}`);
  });

for (const [name, size] of firstOrAll(1, [
  ['a desktop', { width: 1440, height: 800 }],
  ['a phone', PHONE],
] as const)) {
  test(`Tab shows every control on ${name}`, async ({ desk }) => {
    await createRecords(desk);
    await desk.setViewportSize(size);
    for (const [address, content] of SCREENS) {
      await desk.goto(`/#/${address}`);
      await desk.reload();
      await expect(content(desk), address).toBeVisible();
      const found: string[] = [];
      for (let steps = 0; steps < MOST_STEPS; steps += 1) {
        await desk.keyboard.press('Tab');
        const faults = await faultsOfFocused(desk);
        if (faults === null) break;
        found.push(...faults);
      }
      expect(found, address).toEqual([]);
    }
  });
}

/** @returns what gets the focus outside of the open record */
async function strayStops(page: Page, key: string): Promise<string[]> {
  const found = new Set<string>();
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    await page.keyboard.press(key);
    const stray = await page.evaluate(() => {
      const { activeElement: element } = document;
      if (!element || element === document.body || element.closest('aside')) return null;
      return `${element.tagName} ${element.ariaLabel ?? element.textContent}`;
    });
    if (stray) found.add(stray);
  }
  return [...found];
}

test('Tab does not reach what an open record covers', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.setViewportSize(PHONE);
  await desk.goto('/#/licenses');
  const row = desk.locator('[data-index="0"]');
  await row.press('Enter');
  const record = desk.getByRole('complementary', { name: 'Acme' });
  const menu = desk.getByRole('button', { name: 'Menu' });
  const search = desk.getByRole('searchbox');
  await expect(record).toBeFocused();
  for (const covered of [menu, search]) await expect(covered).toHaveCount(0);
  await expectAccessible(desk);
  expect(await strayStops(desk, 'Tab')).toEqual([]);
  expect(await strayStops(desk, 'Shift+Tab')).toEqual([]);

  // What opens above the record is reached.
  const back = record.getByRole('button', { name: 'Back' });
  await back.press('Control+k');
  await expect(desk.getByRole('dialog', { name: 'Search' }).getByRole('combobox')).toBeFocused();
  await desk.keyboard.press('Escape');
  await expect(back).toBeFocused();
  await chooseAction(record, 'Edit');
  const dialog = desk.getByRole('dialog', { name: 'Edit license' });
  await expect(dialog.getByLabel('Holder')).toBeFocused();
  await dialog.getByLabel('Order number').fill('PO-1');
  await desk.keyboard.press('Enter');
  await expect(record).toContainText('PO-1');
  await expect(record.getByRole('button', { name: 'More actions' })).toBeFocused();
  await desk.getByRole('log', { name: 'Results' }).getByRole('button', { name: 'Undo' }).press('Enter');
  await expect(record).not.toContainText('PO-1');

  // The list has the focus again after the record.
  await back.press('Escape');
  await expect(record).toHaveCount(0);
  await expect(row).toBeFocused();
  for (const uncovered of [menu, search]) await expect(uncovered).toBeVisible();

  // In a wide window, the record is beside the list.
  await desk.keyboard.press('Enter');
  await back.focus();
  await desk.setViewportSize({ width: 1440, height: 800 });
  await expect(record).toBeFocused();
  await search.focus();
  await expect(search).toBeFocused();
  await desk.setViewportSize(PHONE);
  await expect(record).toBeFocused();
});

test('a table or code is a tab stop only while it scrolls', async ({ desk }) => {
  const isStop = async (name: string, width: string, expected: '0' | null) => {
    const frame = desk.getByRole('group', { name });
    await frame.evaluate((element, given) => {
      element.style.width = given;
      element.style.height = given && '40px';
    }, width);
    await expect.poll(() => frame.getAttribute('tabindex')).toBe(expected);
  };
  await desk.goto('/#/settings?tab=sessions');
  await isStop('Sessions', '', null);
  await isStop('Sessions', '200px', '0');
  await isStop('Sessions', '', null);
  await desk.goto('/#/webhooks?view=catalogue');
  await isStop('Sample payload of license.activated', '200px', '0');
  await isStop('Sample payload of license.activated', '', null);
});
