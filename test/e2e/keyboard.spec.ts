// Every control is reached with the Tab key, in view, with a name and a visible focus (WCAG 2.1.1, 2.4.7, 2.4.11, 4.1.2).
import type { Page } from '@playwright/test';
import { createRecords, SCREENS } from './screens.ts';
import { expect, test } from './test.ts';

test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

/** Some screens have long lists, whose rows are alike. */
const MOST_STEPS = 60;

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

for (const [name, size] of [
  ['a desktop', { width: 1440, height: 800 }],
  ['a phone', { width: 390, height: 844 }],
] as const) {
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
