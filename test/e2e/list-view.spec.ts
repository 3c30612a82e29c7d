// The columns and the row height of lists, which each browser keeps.
import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, importLicenses, issueLicense, test } from './test.ts';

const grid = (page: Page) => page.getByRole('grid');
const rows = (page: Page) => grid(page).getByRole('rowgroup').getByRole('row');
const headings = (page: Page) => grid(page).getByRole('columnheader');
const viewButton = (page: Page) => page.getByRole('button', { name: 'Columns and density' });
const entry = (page: Page, name: string) => page.getByRole('menuitemcheckbox', { name });
const density = (page: Page, name: string) => page.getByRole('menuitemradio', { name });

const ALL = ['Holder', 'Key', 'Product', 'Plan', 'State', 'Seats', 'Issued', 'Expires'];
const without = (...names: string[]) => ['', ...ALL.filter((name) => !names.includes(name))];
const heightOf = async (row: Locator) => (await row.boundingBox())?.height;
const customers = (count: number) => Array.from({ length: count }, (_, index) => `Customer ${index + 1}`);

async function openLicenses(page: Page): Promise<void> {
  await page.goto('/#/licenses');
  await expect(rows(page).first()).toBeVisible();
}

/** The text of the row that is the first below the headings. */
function rowAtTop(page: Page): Promise<string> {
  return page.evaluate(() => {
    const head = document.querySelector('[role=grid] [aria-rowindex="1"]')?.getBoundingClientRect();
    const found = document.elementFromPoint((head?.left ?? 0) + 100, (head?.bottom ?? 0) + 4);
    return found?.closest('[data-index]')?.textContent.replace(/….*/u, '') ?? '';
  });
}

test('columns are chosen by keyboard, kept for this list, and reset', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Firma 500 GmbH' });
  await openLicenses(desk);
  await expect(headings(desk)).toHaveText(without());

  await viewButton(desk).focus();
  await desk.keyboard.press('Enter');
  await expect(entry(desk, 'Holder Always shown')).toBeDisabled();
  await expect(entry(desk, 'Holder Always shown')).toBeChecked();
  await expect(entry(desk, 'Order number')).not.toBeChecked();
  await expectAccessible(desk);
  await desk.keyboard.press('ArrowDown');
  await expect(entry(desk, 'Email')).toBeFocused();
  await desk.keyboard.press('ArrowUp');
  await expect(entry(desk, 'Key')).toBeFocused();
  await desk.keyboard.press('Space');
  await expect(entry(desk, 'Key')).not.toBeChecked();
  await expect(headings(desk)).toHaveText(without('Key'));
  await entry(desk, 'Product').click();
  await entry(desk, 'Order number').click();
  await desk.keyboard.press('Escape');
  await expect(viewButton(desk)).toBeFocused();
  const chosen = ['', 'Holder', 'Order number', 'Plan', 'State', 'Seats', 'Issued', 'Expires'];
  await expect(headings(desk)).toHaveText(chosen);

  await desk.reload();
  await expect(headings(desk)).toHaveText(chosen);
  await desk.goto('/#/authorization-tokens');
  await expect(viewButton(desk)).toBeDisabled();
  await desk.goto('/#/audit');
  await expect(headings(desk)).toHaveText(['Time', 'Actor', 'Source', 'Action', 'Subject']);

  await openLicenses(desk);
  await viewButton(desk).click();
  await desk.getByRole('menuitem', { name: 'Reset view' }).click();
  await expect(headings(desk)).toHaveText(without());
  await desk.reload();
  await expect(headings(desk)).toHaveText(without());
});

test('rows become higher or lower while the list keeps its place', async ({ desk }) => {
  await importLicenses(desk, customers(90));
  await issueLicense(desk, { holder: 'Ústav', email: 'licence@usl.example.cz' });
  await openLicenses(desk);
  const first = rows(desk).first();
  expect(await heightOf(first)).toBe(36);
  await expect(first).not.toContainText('licence@usl.example.cz');
  await grid(desk).evaluate((element) => element.scrollTo({ top: 40 * 36 }));
  await expect.poll(() => rowAtTop(desk)).toContain('Customer 51');

  for (const [name, height] of [
    ['Compact', 32],
    ['Comfortable', 52],
    ['Standard', 36],
  ] as const) {
    await viewButton(desk).click();
    await density(desk, name).click();
    await expect(density(desk, name)).toBeChecked();
    await desk.keyboard.press('Escape');
    await expect.poll(() => heightOf(rows(desk).first())).toBe(height);
    await expect.poll(() => rowAtTop(desk)).toContain('Customer 51');
  }

  await viewButton(desk).click();
  await density(desk, 'Comfortable').click();
  await desk.reload();
  await expect(rows(desk).first()).toContainText('licence@usl.example.cz');
  expect(await heightOf(rows(desk).first())).toBe(52);
  await expectAccessible(desk);
  await rows(desk).first().focus();
  await desk.keyboard.press('End');
  await expect(rows(desk).last()).toContainText('Customer 1');
  await expect(rows(desk).last()).toBeInViewport({ ratio: 0.9 });
});

test('a list without a second line has two densities', async ({ desk }) => {
  await desk.goto('/#/audit');
  await viewButton(desk).click();
  await expect(desk.getByRole('menuitemradio')).toHaveText(['Standard', 'Compact']);
  await density(desk, 'Compact').click();
  await desk.keyboard.press('Escape');
  await expect.poll(() => heightOf(rows(desk).first())).toBe(32);
});

test('holder, state and expiry stay in view beside the inspector in a small window', async ({ desk }) => {
  await desk.setViewportSize({ width: 1100, height: 700 });
  await desk.evaluate(() => localStorage.setItem('license-desk-inspector-width', '560'));
  await desk.reload();
  await issueLicense(desk, { holder: 'Firma 500 GmbH' });
  await openLicenses(desk);
  await expect(headings(desk)).toHaveText(without('Issued'));
  await rows(desk).first().click();
  const inspector = desk.getByRole('complementary', { name: 'Firma 500 GmbH' });
  await expect(inspector).toBeVisible();
  await expect(headings(desk)).toHaveText(['', 'Holder', 'State', 'Expires']);
  await expect(headings(desk).last()).toBeInViewport({ ratio: 1 });
  await expect.poll(async () => (await inspector.boundingBox())?.width).toBe(440);
  const grip = desk.getByRole('separator', { name: 'Resize the panel' });
  await expect(grip).toHaveAttribute('aria-valuemax', '440');

  await viewButton(desk).click();
  await expect(entry(desk, 'Seats No room')).toBeChecked();
  await desk.keyboard.press('Escape');
  await desk.setViewportSize({ width: 1440, height: 900 });
  await expect(grip).toHaveAttribute('aria-valuenow', '560');
  await expect.poll(async () => (await inspector.boundingBox())?.width).toBe(560);
  await grip.focus();
  await desk.keyboard.press('ArrowLeft');
  await expect(grip).toHaveAttribute('aria-valuenow', '560');
  for (let step = 0; step < 8; step += 1) await desk.keyboard.press('ArrowRight');
  await expect(grip).toHaveAttribute('aria-valuenow', '440');
  await expect(headings(desk)).toHaveText(['', 'Holder', 'Key', 'State', 'Seats', 'Expires']);
});

test('rows on a phone keep their two lines with any choice for wide windows', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Firma 500 GmbH' });
  await openLicenses(desk);
  await viewButton(desk).click();
  await density(desk, 'Compact').click();
  await entry(desk, 'Key').click();
  await desk.setViewportSize({ width: 390, height: 844 });
  await expect(viewButton(desk)).toHaveCount(0);
  expect(await heightOf(rows(desk).first())).toBe(64);
  await expect(rows(desk).first()).toContainText('…');
});

test('the menu speaks German', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Firma 500 GmbH' });
  await desk.evaluate(() => localStorage.setItem('license-desk-language', 'de'));
  await desk.reload();
  await openLicenses(desk);
  await desk.getByRole('button', { name: 'Spalten und Zeilenhöhe' }).click();
  await expect(desk.getByRole('menuitemcheckbox', { name: 'Inhaber Immer sichtbar' })).toBeChecked();
  await expect(desk.getByRole('menuitemradio')).toHaveText(['Zweizeilig', 'Normal', 'Kompakt']);
  await expect(desk.getByRole('menuitem', { name: 'Ansicht zurücksetzen' })).toBeVisible();
});

test('the count of a list stands beside its view menu', async ({ desk }) => {
  await importLicenses(desk, customers(3));
  await desk.setViewportSize({ width: 1100, height: 700 });
  for (const [address, count] of [
    ['licenses', '3 licenses'],
    ['audit', '6 entries'],
  ] as const) {
    await desk.goto(`/#/${address}`);
    const shown = desk.getByRole('main').getByRole('status').filter({ hasText: count });
    await expect(shown).toBeVisible();
    const [text, button] = [await shown.boundingBox(), await viewButton(desk).boundingBox()];
    const middle = ({ y, height }: { y: number; height: number }) => y + height / 2;
    expect(text && button && Math.abs(middle(text) - middle(button))).toBeLessThan(4);
  }
});

test('an order by a column that is not shown is told, and can be ended', async ({ desk }) => {
  await importLicenses(desk, customers(3));
  await openLicenses(desk);
  const sorting = desk.getByRole('list', { name: 'Active filters' }).getByRole('listitem');
  await headings(desk).filter({ hasText: 'Issued' }).getByRole('button').click();
  await headings(desk).filter({ hasText: 'Expires' }).getByRole('button').click();
  await expect(headings(desk).filter({ hasText: 'Expires' })).toHaveAttribute('aria-sort', 'ascending');
  await expect(sorting).toHaveCount(0);

  await viewButton(desk).click();
  await entry(desk, 'Expires').click();
  await desk.keyboard.press('Escape');
  await expect(sorting).toHaveText('Order: Expires, ascending');
  await expectAccessible(desk);
  await desk.getByRole('button', { name: 'Reset order' }).click();
  await expect(sorting).toHaveCount(0);
  await expect(headings(desk).filter({ hasText: 'Issued' })).toHaveAttribute('aria-sort', 'descending');

  // The initial order is the only one whose column may be hidden without a word.
  await viewButton(desk).click();
  await entry(desk, 'Issued').click();
  await desk.keyboard.press('Escape');
  await expect(headings(desk)).toHaveText(without('Issued', 'Expires'));
  await expect(sorting).toHaveCount(0);
});

test('opening a record does not move the list, also where the sorted column has no room beside it', async ({
  desk,
}) => {
  await importLicenses(desk, customers(3));
  await desk.setViewportSize({ width: 1440, height: 900 });
  await openLicenses(desk);
  const issued = headings(desk).filter({ hasText: 'Issued' });
  await issued.getByRole('button').click();
  await expect(issued).toHaveAttribute('aria-sort', 'ascending');
  await expect(rows(desk).first()).toContainText('Customer 1');
  const before = await grid(desk).boundingBox();
  await rows(desk).first().press('Enter');
  await expect(desk.getByRole('complementary')).toBeVisible();
  await expect(issued).toHaveCount(0);
  expect((await grid(desk).boundingBox())?.y).toBe(before?.y);
  await expect(desk.getByRole('list', { name: 'Active filters' })).toHaveCount(0);
});

test('Down in the inspector goes on to the end of the list, and the list follows', async ({ desk }) => {
  await importLicenses(desk, customers(110));
  await desk.goto('/#/licenses?open=20');
  const inspector = (customer: number) =>
    desk.getByRole('complementary', { name: `Customer ${customer}`, exact: true });
  await expect(inspector(20)).toBeFocused();
  // The list has been loaded, too.
  await expect(desk.getByRole('button', { name: 'Next record' })).toBeEnabled();
  for (let customer = 19; customer > 0; customer -= 1) {
    await desk.keyboard.press('ArrowDown');
    await expect(inspector(customer)).toBeFocused();
  }
  await expect(desk.getByRole('button', { name: 'Next record' })).toBeDisabled();
  const open = grid(desk).locator('[aria-current]');
  await expect(open).toContainText(/^Customer 1\w{5}…/u);
  await expect(open).toBeInViewport({ ratio: 0.9 });

  // The list moves only as far as needed, and not for a row that was clicked.
  const place = () => grid(desk).evaluate(({ scrollTop }) => scrollTop);
  const end = await place();
  await desk.keyboard.press('ArrowUp');
  await expect(inspector(2)).toBeFocused();
  expect(await place()).toBe(end);
  await grid(desk).evaluate((element) => element.scrollBy({ top: -18 }));
  const box = await grid(desk).boundingBox();
  if (box) await desk.mouse.click(box.x + 200, box.y + box.height - 6);
  await expect(inspector(1)).toBeFocused();
  expect(await place()).toBe(end - 18);
});

test('a record that is opened by its address as the last loaded one has a next record', async ({ desk }) => {
  await importLicenses(desk, customers(130));
  await desk.goto('/#/licenses?open=31');
  await expect(desk.getByRole('complementary', { name: 'Customer 31', exact: true })).toBeVisible();
  await desk.getByRole('button', { name: 'Next record' }).click();
  await expect(desk.getByRole('complementary', { name: 'Customer 30', exact: true })).toBeVisible();
  await expect(grid(desk).locator('[aria-current]')).toBeInViewport({ ratio: 0.9 });
});

test('beside the inspector, holders have more room than how far away a date is', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Sachverständigenbüro Müller' });
  await desk.setViewportSize({ width: 1440, height: 900 });
  await openLicenses(desk);
  const relative = grid(desk).getByText(/^\s*in \d+/u);
  await expect(relative).toBeInViewport();
  const cellWidth = (name: string) =>
    headings(desk)
      .filter({ hasText: name })
      .evaluate((element) => element.clientWidth);
  await rows(desk).first().press('Enter');
  await expect(desk.getByRole('complementary')).toBeVisible();
  await expect.poll(() => cellWidth('Holder')).toBeGreaterThan(170);
  await expect(relative).not.toBeInViewport();
});

test('after scrolling, rows follow each other in the document, and the focus is where it was', async ({
  desk,
}) => {
  await importLicenses(desk, customers(95));
  await openLicenses(desk);
  const shown = () =>
    rows(desk).evaluateAll((elements) =>
      elements.map((element) => Number(element.getAttribute('data-index'))),
    );
  const isInOrder = async () => {
    const indices = await shown();
    return indices.every((index, at) => index === (indices[0] ?? 0) + at);
  };
  await grid(desk).hover();
  for (let turn = 0; turn < 6; turn += 1) await desk.mouse.wheel(0, 300);
  await expect.poll(() => grid(desk).evaluate(({ scrollTop }) => scrollTop)).toBe(1800);
  await expect.poll(async () => (await shown())[0]).toBeGreaterThan(20);
  await expect.poll(isInOrder).toBe(true);

  const customer = rows(desk).filter({ hasText: /^Customer 40\w{5}…/u });
  await customer.focus();
  await desk.mouse.wheel(0, -200);
  await desk.mouse.wheel(0, -200);
  await expect.poll(async () => (await shown())[0]).toBeLessThan(30);
  await expect.poll(isInOrder).toBe(true);
  await expect(customer).toBeFocused();
  // No other license takes the focus with the element.
  await grid(desk).evaluate((element) => element.scrollTo({ top: 0 }));
  await expect(rows(desk).first()).toContainText('Customer 95');
  await expect(desk.locator('body')).toBeFocused();

  // Also while the elements are still in another order.
  await desk.mouse.wheel(0, 900);
  await rows(desk)
    .filter({ hasText: 'Customer 60' })
    .click({ position: { x: 400, y: 10 } });
  await expect(desk.getByRole('complementary', { name: 'Customer 60' })).toBeVisible();
});
