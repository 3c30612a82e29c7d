// What the browser prints of the screens. license-print.spec.ts is about the printed license.
import type { Page } from '@playwright/test';
import { textsPerPage } from './pdf-pages.ts';
import { createRecords, SCREENS } from './screens.ts';
import { expect, importLicenses, issueLicense, test } from './test.ts';

test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

const holders = (count: number) => Array.from({ length: count }, (_, at) => `Holder ${at + 1}`);
const print = (page: Page) => page.pdf({ preferCSSPageSize: true, printBackground: true });
/** Paper takes neither clicks nor keys. Headings of columns and the chosen view are buttons on the screen. */
const controls = (page: Page) =>
  page
    .locator(
      'nav, dialog, button:not(.on-paper, [aria-selected="true"], [aria-pressed="true"]), [role="grid"] [type="checkbox"]',
    )
    .filter({
      visible: true,
    });

test('a list is printed as a table of its rows', { tag: '@browser' }, async ({ desk }) => {
  await importLicenses(desk, holders(130));
  await desk.emulateMedia({ colorScheme: 'dark' });
  await desk.goto('/#/licenses');
  await expect(desk.getByText('130 licenses')).toBeVisible();
  const grid = desk.getByRole('grid');
  const row = grid.getByRole('row', { name: 'Holder 100' });
  await grid.evaluate((element) => element.scrollTo(0, 36 * 20));
  await expect(row).toBeVisible();
  const texts = textsPerPage(await print(desk));
  expect(texts.length).toBeLessThanOrEqual(4);
  // Five columns of a hundred rows, and no page without rows.
  expect(texts.reduce((sum, count) => sum + count)).toBeGreaterThan(500);
  expect(Math.min(...texts)).toBeGreaterThan(5);
  // The list has kept its place.
  await expect(grid.getByRole('row')).not.toHaveCount(101);
  expect(await grid.evaluate((element) => element.scrollTop)).toBe(36 * 20);
  await expect(row).toBeInViewport();

  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(grid.getByRole('row')).toHaveCount(101);
  await expect(grid.getByText('Die ersten 100 von 130')).toBeVisible();
  await expect(grid.getByRole('columnheader', { name: 'Inhaber' })).toBeVisible();
  await expect(controls(desk)).toHaveCount(0);
  // The line below the head goes through.
  const heads = grid.getByRole('columnheader').filter({ visible: true });
  const lines = await heads.evaluateAll((all) => all.map((one) => getComputedStyle(one).borderBottomColor));
  expect(new Set(lines)).toEqual(new Set(['rgb(20, 23, 31)']));
  await expect(row).not.toContainText('heute');
  await expect(row).toHaveCSS('break-inside', 'avoid');
  await expect(row).toHaveCSS('color', 'rgb(20, 23, 31)');
  await expect(desk.locator('body')).toHaveCSS('background-color', 'rgb(255, 255, 255)');
  await desk.emulateMedia({ media: null, colorScheme: null });
  await expect(grid.getByText('Die ersten 100')).toHaveCount(0);

  await desk.getByLabel('Sprache').selectOption('English');
  await desk.goto('/#/licenses?search=Holder+12');
  await expect(desk.getByText('12 licenses')).toBeVisible();
  await desk.emulateMedia({ media: 'print' });
  await expect(grid.getByRole('row')).toHaveCount(13);
  await expect(desk.getByRole('searchbox')).toHaveValue('Holder 12');
  await expect(grid.getByText('The first')).toHaveCount(0);
});

test('an open record is printed once, without its list', { tag: '@browser' }, async ({ desk }) => {
  await importLicenses(desk, holders(60));
  await issueLicense(desk, { holder: 'Acme', notes: 'Pays late.\nAsk for Ms. Novak.' });
  await desk.goto('/#/licenses?open=61');
  const record = desk.getByRole('complementary', { name: 'Acme' });
  const notes = record.getByRole('definition').filter({ hasText: 'Pays late.' });
  await expect(notes).toBeVisible();
  expect(await notes.evaluate((element: HTMLElement) => element.innerText)).toBe(
    'Pays late.\nAsk for Ms. Novak.',
  );
  expect(textsPerPage(await print(desk))).toHaveLength(1);

  await desk.emulateMedia({ media: 'print' });
  await expect(notes).toBeVisible();
  await expect(desk.getByRole('grid')).toHaveCount(0);
  await expect(controls(desk)).toHaveCount(0);
});

test(
  'a chart is printed in full, in the colors for a light ground',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.setViewportSize({ width: 1440, height: 900 });
    await desk.emulateMedia({ colorScheme: 'dark' });
    await desk.goto('/#/statistics');
    const chart = desk.getByRole('img', { name: 'Authorizations per day' });
    await expect(chart).toBeVisible();
    // Listens after the page does.
    const printed = await chart.evaluateHandle((element) => {
      const canvas = element as HTMLCanvasElement;
      const seen = { colors: [] as string[], right: 0, edge: 0 };
      const panel = canvas.closest('section');
      matchMedia('print').addEventListener('change', ({ matches }) => {
        if (!matches || !panel) return;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        const colors = new Set<string>();
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] === 255) colors.add(data.slice(at, at + 3).join(' '));
        seen.colors = [...colors];
        seen.right = canvas.getBoundingClientRect().right;
        seen.edge = panel.getBoundingClientRect().right;
      });
      return seen;
    });
    await print(desk);
    const { colors, right, edge } = await printed.jsonValue();
    expect(edge).toBeLessThan(900);
    expect(right).toBeLessThan(edge);
    expect(colors).toContain('59 91 219');
    expect(colors).not.toContain('141 162 255');
    // Back on the screen, it is as wide and as bright as before.
    await expect.poll(() => chart.evaluate(({ clientWidth }) => clientWidth)).toBeGreaterThan(900);
  },
);

test('no screen prints controls or an empty page', { tag: '@browser' }, async ({ desk }) => {
  test.slow();
  await createRecords(desk);
  for (const [address, content] of SCREENS) {
    await desk.goto(`/#/${address}`);
    await expect(content(desk), address).toBeVisible();
    // An empty page has its number.
    expect(Math.min(...textsPerPage(await print(desk))), address).toBeGreaterThan(1);
    await desk.emulateMedia({ media: 'print' });
    await expect(controls(desk), address).toHaveCount(0);
    await desk.emulateMedia({ media: null });
  }
});
