// With forced colors (Windows contrast themes), backgrounds and shadows are gone: every state keeps another mark.
import type { Locator } from '@playwright/test';
import jsqr from 'jsqr';
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

test('icons have the color of the text beside them, and the arrow of a select is drawn once', async ({
  desk,
}) => {
  const colorOf = (element: Locator) => element.evaluate((node) => getComputedStyle(node).color);
  for (const name of ['Overview', 'Audit']) {
    const link = desk.getByRole('navigation').getByRole('link', { name });
    expect(await colorOf(link.locator('svg'))).toBe(await colorOf(link));
  }
  const language = desk.getByLabel('Language');
  await expect(language).toHaveCSS('background-image', 'none');
  await desk.goto('/#/certificates');
  await desk.getByRole('button', { name: 'Issue certificate' }).click();
  const submit = desk.getByRole('dialog').getByRole('button', { name: 'Issue', exact: true });
  await expect(submit).toBeDisabled();
  await expect(submit).toHaveCSS('opacity', '1');
});

test('the focus can be told from what is chosen', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', days: 3 });
  const chosen = desk.getByRole('group', { name: 'Period' }).getByRole('button', { pressed: true });
  const before = await lookOf(chosen);
  await chosen.focus();
  await desk.keyboard.press('Shift+Tab');
  await desk.keyboard.press('Tab');
  await expect(chosen).toBeFocused();
  expect(await lookOf(chosen)).not.toEqual(before);

  await desk.goto('/#/licenses');
  const row = desk.getByRole('row').filter({ hasText: 'Acme' });
  await row.getByRole('checkbox').check();
  await expect(row).toHaveCSS('outline-style', 'solid');
  await row.press('Enter');
  await expect(desk.getByRole('heading', { name: 'Acme' })).toBeVisible();
  const open = await lookOf(row);
  await desk.keyboard.press('Escape');
  await expect(desk.getByRole('heading', { name: 'Acme' })).toBeHidden();
  await row.press('ArrowDown');
  await expect(row).toBeFocused();
  expect(await lookOf(row)).not.toEqual(open);
});

test('the lines of a chart are told apart without their colors', async ({ desk }) => {
  const plan = { name: 'pool', licensing: 'floating', seats: 25 };
  expect((await desk.request.post('/admin/api/plans/', { data: plan })).ok()).toBe(true);
  await issueLicense(desk, { holder: 'Acme', plan: 'pool' });
  await desk.goto('/#/floating?view=usage&license=1');
  const lines = desk.getByRole('listitem').filter({ visible: true }).locator('line');
  await expect(lines).toHaveCount(6);
  const [peak, average, needed, seats] = await lines.evaluateAll((all) =>
    all.map((line) => line.getAttribute('stroke-dasharray')),
  );
  expect(new Set([peak, average, needed, seats]).size).toBe(4);
});

test(
  'a chart has a ground of the system, and links keep their color',
  { tag: '@browser' },
  async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme', days: 3 });
    await desk.goto('/#/overview');
    const links = desk.getByRole('main').getByRole('link');
    await expect(links.first()).toBeVisible();
    const colors = await links.evaluateAll((all) => all.map((link) => getComputedStyle(link).color));
    expect(new Set(colors).size).toBe(1);
    const chart = desk.getByRole('img', { name: /Authorizations/u });
    await expect(chart).toBeVisible();
    const ground = await chart.locator('..').evaluate((box) => getComputedStyle(box).backgroundColor);
    expect(ground).toBe(
      await desk.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor),
    );
  },
);

test('a QR code can be scanned', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  await desk.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await desk.goto('/#/licenses?open=1');
  await desk.getByRole('button', { name: 'Hand over' }).click();
  await desk.getByRole('dialog').getByRole('tab', { name: 'Key' }).click();
  const picture = await desk.getByRole('img', { name: /QR/u }).screenshot();
  const blank = await desk.context().newPage();
  const { levels, width, height } = await blank.evaluate(
    async (bytes) => {
      const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!;
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
      const reds = Array.from({ length: data.length / 4 }, (_, at) => String.fromCharCode(data[4 * at] ?? 0));
      return { levels: reds.join(''), width: bitmap.width, height: bitmap.height };
    },
    [...picture],
  );
  await blank.close();
  const pixels = Uint8ClampedArray.from(
    Buffer.from(levels, 'latin1')
      .toJSON()
      .data.flatMap((level) => [level, level, level, 255]),
  );
  // Not every reader finds light on dark.
  const found = jsqr(pixels, width, height, { inversionAttempts: 'dontInvert' });
  expect(found?.data).toBe(key);
});
