import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

test('the palette finds screens, commands and licenses by keyboard', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Fjord Instruments' });
  await desk.keyboard.press('Control+k');
  const palette = desk.getByRole('dialog', { name: 'Search' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await desk.keyboard.type('licen');
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('heading', { name: 'Licenses', exact: true })).toBeVisible();
  await expect(palette).toHaveCount(0);

  await desk.keyboard.press('Control+k');
  await desk.keyboard.type('fjord');
  await expect(palette.getByRole('option', { name: 'Fjord Instruments' })).toBeVisible();
  await expectAccessible(desk);
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('complementary', { name: 'Fjord Instruments' })).toContainText(key);

  await desk.keyboard.press('Control+k');
  await desk.keyboard.type('new lic');
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('dialog', { name: 'New license' })).toBeVisible();
});

test('changes from elsewhere appear without a reload', async ({ desk, server }) => {
  await desk.goto('/#/licenses');
  await expect(desk.getByText('No licenses yet.')).toBeVisible();
  await server.cli('license', 'create', '--holder', 'From the shell');
  await expect(desk.getByRole('gridcell', { name: 'From the shell', exact: true })).toBeVisible();
});

test('switches the language and remembers it', async ({ desk }) => {
  await desk.getByLabel('Language').selectOption('Deutsch');
  await expect(desk.getByRole('heading', { name: 'Übersicht' })).toBeVisible();
  await desk.reload();
  await expect(desk.getByRole('heading', { name: 'Übersicht' })).toBeVisible();
  await expect(desk.locator('html')).toHaveAttribute('lang', 'de');
  await expect(desk).toHaveTitle('Übersicht · License Desk');
});

test('signing out ends the session on the server as well', async ({ desk, server }) => {
  await desk.getByRole('button', { name: 'Sign out' }).click();
  await expect(desk.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await desk.reload();
  await expect(desk.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await desk.goto(await server.link());
  await expect(desk.getByRole('heading', { name: 'Overview' })).toBeVisible();
});

test('an unknown URL shows that the page was not found', async ({ desk }) => {
  await desk.goto('/#/no-such-screen');
  await expect(desk.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await desk.getByRole('link', { name: 'Go to overview' }).click();
  await expect(desk.getByRole('heading', { name: 'Overview' })).toBeVisible();
});
