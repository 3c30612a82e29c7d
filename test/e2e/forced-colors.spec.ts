// With forced colors (Windows contrast themes), backgrounds and shadows are gone: every state keeps another mark.
import type { Locator } from '@playwright/test';
import { expect, issueLicense, test } from './test.ts';

/** What is left of an element's look. */
const lookOf = (element: Locator) =>
  element.evaluate((node) => {
    const style = getComputedStyle(node);
    return {
      border: `${style.borderTopWidth} ${style.borderTopStyle}`,
      outline: `${style.outlineWidth} ${style.outlineStyle}`,
    };
  });

/** Only the selected tab has a border that can be seen. */
async function expectMark(
  tabs: Locator,
  edge: 'borderBottomColor' | 'borderInlineStartColor',
): Promise<void> {
  await expect(tabs.first()).toBeVisible();
  const marks = await tabs.evaluateAll(
    (all, side) =>
      all.map((tab) => {
        const style = getComputedStyle(tab);
        const canvas = getComputedStyle(document.body).backgroundColor;
        const isMarked =
          style[side] !== canvas && style[side.replace('Color', 'Width') as 'borderBottomWidth'] !== '0px';
        return { isMarked, isSelected: tab.ariaSelected === 'true' };
      }),
    edge,
  );
  for (const { isMarked, isSelected } of marks) expect(isMarked).toBe(isSelected);
}

test.beforeEach(async ({ desk }) => {
  await desk.emulateMedia({ forcedColors: 'active' });
});

test('the current screen, tab and choice keep a mark', async ({ desk }) => {
  const navigation = desk.getByRole('navigation');
  expect(await lookOf(navigation.getByRole('link', { name: 'Overview' }))).toMatchObject({
    outline: '2px solid',
  });
  expect(await lookOf(navigation.getByRole('link', { name: 'Audit' }))).not.toMatchObject({
    outline: '2px solid',
  });
  const period = desk.getByRole('group', { name: 'Period' });
  const on = await lookOf(period.getByRole('button', { name: '28 d', pressed: true }));
  const off = await lookOf(period.getByRole('button', { name: '7 d', pressed: false }));
  expect(on).not.toEqual(off);

  await desk.goto('/#/webhooks');
  const tabs = (list: string) => desk.getByRole('tablist', { name: list }).getByRole('tab');
  await expectMark(tabs('Webhooks'), 'borderBottomColor');
  await desk.goto('/#/settings');
  await expectMark(tabs('Settings'), 'borderInlineStartColor');
  const card = (name: string) => desk.getByRole('radio', { name }).locator('..');
  expect(await lookOf(card('This machine'))).not.toEqual(await lookOf(card('Network')));
});

test('states, seats and the primary action keep a shape', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', days: 3 });
  await desk.goto('/#/licenses');
  const row = desk.getByRole('row').filter({ hasText: 'Acme' });
  expect((await lookOf(row.getByText('Expiring', { exact: true }))).border).toBe('1px solid');
  expect((await lookOf(desk.getByRole('button', { name: 'New license' }))).border).toBe('2px solid');
  await desk.getByRole('button', { name: 'New license' }).click();
  await desk.getByRole('dialog').getByRole('button', { name: 'Issue license' }).click();
  expect((await lookOf(desk.getByRole('dialog').getByLabel('Holder'))).border).toBe('3px double');
});
