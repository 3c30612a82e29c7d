// Every screen can be used at the width of a phone, and at 400 % zoom of a 1280 px window (WCAG 1.4.10).
import type { Locator, Page } from '@playwright/test';
import { SETTINGS_TABS } from '../../renderer/src/features/settings/settings-tabs.ts';
import { firstOrAll } from '../helpers/long-lane.ts';
import { expectAccessible } from './accessibility.ts';
import { createRecords, SCREENS } from './screens.ts';
import { expect, importLicenses, issueLicense, test } from './test.ts';

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
        (row) => row.checkVisibility({ visibilityProperty: true }) && row.innerText.trim() === '',
      ).length,
  );

const SIZES = firstOrAll(1, [
  ['400 % zoom', { width: 320, height: 256 }],
  ['a phone', { width: 390, height: 844 }],
] as const);

for (const [name, size] of SIZES) {
  test(`no screen scrolls sideways on ${name}`, async ({ desk }) => {
    await createRecords(desk);
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
  // An empty value hides its label.
  await expect(key.getByText('Retired')).toBeHidden();
  await key.getByRole('button', { name: /^Distrust/u }).click();
  await desk.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await desk.reload();
  await expect(sections).toHaveValue('keys');
  await desk.setViewportSize({ width: 1100, height: 700 });
  await expect(desk.getByRole('table', { name: 'Signing keys' })).toBeVisible();
  await expect(desk.getByRole('tab', { name: 'Signing keys' })).toHaveAttribute('aria-selected', 'true');
});

test('plans stack on a phone, with their actions', async ({ desk }) => {
  await desk.setViewportSize({ width: 390, height: 844 });
  await desk.goto('/#/plans');
  const plan = desk
    .getByRole('list', { name: 'Plan comparison' })
    .getByRole('listitem')
    .filter({ hasText: 'standard' });
  await expect(plan.getByText('Term', { exact: true })).toBeVisible();
  await expect(plan).toContainText('365 days');
  expect(await scrollingSideways(desk)).toEqual([]);
  await expectAccessible(desk);
  await plan.getByRole('button', { name: 'More actions for standard' }).click();
  await desk.getByRole('menuitem', { name: 'Edit' }).click();
  await expect(desk.getByRole('dialog')).toBeVisible();
});

test('on a phone, a long subject leaves room for the action of an audit entry', async ({ desk }) => {
  await importLicenses(desk, ['Acme']);
  await desk.setViewportSize({ width: 390, height: 844 });
  await desk.goto('/#/audit');
  const action = desk.getByRole('gridcell', { name: 'licenses.imported' });
  await expect(action).toBeVisible();
  expect(await action.evaluate((cell) => cell.scrollWidth - cell.clientWidth)).toBe(0);
});

for (const address of ['/#/audit', '/#/floating?view=denials'])
  test(`the two dates of a period stay on one line: ${address}`, async ({ desk }) => {
    await desk.goto(address);
    const dates = desk.locator('.tools input[type=date]');
    for (const [width, height] of [
      [1440, 900],
      [1100, 700],
    ] as const) {
      await desk.setViewportSize({ width, height });
      await expect(dates).toHaveCount(2);
      const [from, to] = await dates.evaluateAll((fields) =>
        fields.map((field) => field.getBoundingClientRect().y),
      );
      expect(from, `${width} px`).toBe(to);
    }
  });

/** Whether the middle of what has the focus can be seen. */
const isFocusCovered = (page: Page) =>
  page.evaluate(() => {
    const focused = document.activeElement;
    if (!focused) return false;
    const { x, y, width, height } = focused.getBoundingClientRect();
    const top = document.elementFromPoint(x + width / 2, y + height / 2);
    return !top || !(focused.contains(top) || top.contains(focused));
  });

test('nothing in a dialog covers what the keyboard goes back to', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'New license' }).click();
  const dialog = desk.getByRole('dialog');
  const submit = dialog.getByRole('button', { name: 'Issue license' });
  // 200 % and 400 % zoom; then the lowest page with a head that stays.
  for (const [width, height] of [
    [720, 450],
    [320, 256],
    [720, 480],
  ] as const) {
    await desk.setViewportSize({ width, height });
    await submit.focus();
    const isFirst = () =>
      dialog.getByRole('button', { name: 'Dismiss' }).evaluate((button) => button === document.activeElement);
    while (!(await isFirst())) {
      await desk.keyboard.press('Shift+Tab');
      await expect.poll(() => isFocusCovered(desk), { message: `${width} × ${height}` }).toBe(false);
    }
  }
});

/** Whether a part of the text is beyond the edge of its element. */
const isCut = (element: Locator) =>
  element.evaluate(
    (node) => node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1,
  );

test('at 400 % zoom, names and addresses can be read in lists and in records', async ({ desk }) => {
  await createRecords(desk);
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.setViewportSize({ width: 320, height: 640 });
  await desk.goto('/#/licenses?open=1');
  const heading = desk.getByRole('complementary').getByRole('heading', { name: 'Österreichische' });
  await expect(heading).toBeVisible();
  expect(await isCut(heading)).toBe(false);

  await desk.goto('/#/licenses');
  const row = desk.getByRole('row').filter({ hasText: 'Forschungs' });
  const title = row.getByRole('gridcell').filter({ hasText: 'Forschungs' });
  const [titleBox, rowBox] = [await title.boundingBox(), await row.boundingBox()];
  expect(titleBox!.width).toBeGreaterThan(0.35 * rowBox!.width);

  await desk.goto('/#/webhooks/1');
  const strip = desk.locator('dl').filter({ hasText: 'Signaturgeheimnis' }).first();
  await expect(strip).toBeVisible();
  for (const value of await strip.getByRole('definition').all()) expect(await isCut(value)).toBe(false);
  const [stripBox, buttonBox] = [
    await strip.boundingBox(),
    await desk.getByRole('button', { name: 'Weitere Aktionen' }).first().boundingBox(),
  ];
  expect(buttonBox!.y + buttonBox!.height).toBeLessThanOrEqual(stripBox!.y);
});

test('a name from right to left keeps its beginning where it is cut', async ({ desk }) => {
  const name = 'المعهد الوطني للأدلة الجنائية والتحقيقات الرقمية في المنطقة الشرقية والغربية';
  await issueLicense(desk, { holder: name });
  for (const width of [1100, 320]) {
    await desk.setViewportSize({ width, height: 700 });
    await desk.goto('/#/licenses');
    const cell = desk.getByRole('gridcell', { name, exact: true });
    await expect(cell).toBeVisible();
    const { first, edge } = await cell.evaluate((element) => {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (texts.nextNode() && texts.currentNode.textContent === '');
      const range = new Range();
      range.setStart(texts.currentNode, 0);
      range.setEnd(texts.currentNode, 1);
      return { first: range.getBoundingClientRect().right, edge: element.getBoundingClientRect().right };
    });
    expect(first, `${width} px`).toBeLessThanOrEqual(edge);
  }
});

test('with the text spacing of WCAG 1.4.12, the navigation shows its words in full', async ({ desk }) => {
  await desk.setViewportSize({ width: 1100, height: 700 });
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      '* { line-height: 1.5; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }',
    );
    document.adoptedStyleSheets.push(sheet);
  });
  const links = desk.getByRole('navigation').getByRole('link');
  for (const link of await links.all()) {
    const label = link.getByText(/\p{L}/u).first();
    expect(await isCut(label), String(await label.textContent())).toBe(false);
  }
  const [signOut, bar] = [
    await desk.getByRole('button', { name: 'Abmelden' }).boundingBox(),
    await desk.getByRole('banner').boundingBox(),
  ];
  expect(signOut!.x + signOut!.width).toBeLessThanOrEqual(bar!.x + bar!.width);
});
