import { expectAccessible } from './accessibility.ts';
import { holdReply } from './held-reply.ts';
import { expect, issueLicense, test } from './test.ts';

/** Webhooks of tests are on this machine. */
test.use({ serverFlags: ['--webhook-allow', '127.0.0.0/8'] });

test('the palette finds actions, screens, settings and records by keyboard', async ({ desk }) => {
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

  // What can be done with the open record comes first.
  await desk.keyboard.press('Control+k');
  await expect(palette.getByRole('option').first()).toHaveText(/^Renew license.*Fjord Instruments/u);
  await desk.keyboard.type('hand');
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('dialog', { name: 'Hand over the license of Fjord' })).toBeVisible();
  await desk.keyboard.press('Escape');
  await desk.keyboard.press('Control+k');
  await desk.keyboard.type('new lic');
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('dialog', { name: 'New license' })).toBeVisible();
  // Not over a dialog, which may hold a draft.
  await desk.keyboard.press('Control+k');
  await expect(desk.getByRole('dialog')).toHaveCount(1);
  await desk.keyboard.press('Escape');
  await desk.keyboard.press('?');
  const shortcuts = desk.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(shortcuts).toContainText('Previous or next record');
  await expectAccessible(desk);
  await desk.keyboard.press('Escape');

  // Settings, webhooks and the records that were open.
  await desk.request.post('/admin/api/webhooks/register/', {
    data: { url: 'https://127.0.0.1:1/erp', scope: 'all', description: 'ERP of the reseller' },
  });
  await desk.keyboard.press('Control+k');
  await desk.keyboard.type('scan interval');
  await desk.keyboard.press('Enter');
  await expect(desk.getByLabel('License scan interval (seconds)')).toBeFocused();
  // A question mark in a field is text.
  await desk.keyboard.press('?');
  await expect(shortcuts).toHaveCount(0);
  await desk.keyboard.press('Control+k');
  await desk.keyboard.type('reseller');
  await expect(palette.getByRole('option', { name: 'ERP of the reseller' })).toBeVisible();
  await desk.keyboard.press('Enter');
  await expect(desk.getByRole('complementary', { name: '127.0.0.1:1' })).toBeVisible();
  await desk.reload();
  await expect(desk.getByRole('complementary', { name: '127.0.0.1:1' })).toBeVisible();
  await desk.keyboard.press('Control+k');
  await expect(palette.getByRole('option', { name: /Fjord Instruments.*Recent/u })).toBeVisible();
  await desk.keyboard.press('Escape');

  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.keyboard.press('Control+k');
  await desk.keyboard.type('ereignisse aufb');
  await expect(desk.getByRole('dialog').getByRole('option').first()).toContainText('Einstellung');
});

test('the palette leads to what decides a setting that is not shown', async ({ desk }) => {
  const open = async (name: string) => {
    await desk.keyboard.press('Control+k');
    await desk.keyboard.type(name);
    await desk
      .getByRole('option')
      .filter({ has: desk.getByText(name, { exact: true }) })
      .click();
  };
  await open('Backup folder');
  await expect(desk.getByLabel('Off')).toBeFocused();
  await expect(desk).toHaveURL(/#\/settings\?tab=backup$/u);
  await desk.getByLabel('Every day').check();
  await open('Backup folder');
  await expect(desk.getByLabel('Backup folder')).toBeFocused();
  await open('Hour');
  await expect(desk.getByLabel('Hour')).toBeFocused();
  await open('Daily backup');
  await expect(desk.getByLabel('Every day')).toBeFocused();
  await open('TLS');
  await expect(desk.getByRole('group', { name: 'TLS' }).getByLabel('Off')).toBeFocused();
  await expect(desk).toHaveURL(/#\/settings\?tab=network$/u);
});

test('the palette offers no license that was found by an earlier text', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme Robotics' });
  await issueLicense(desk, { holder: 'Acme Tools' });
  await desk.keyboard.press('Control+k');
  const palette = desk.getByRole('dialog', { name: 'Search' });
  const field = palette.getByRole('combobox');
  await field.fill('acme');
  await expect(palette.getByRole('option')).toHaveText([/^Acme Tools/u, /^Acme Robotics/u]);
  const { asked, release } = await holdReply(desk, 'licenses/', 'GET');
  await field.fill('acme robotics');
  await expect(palette.getByRole('option')).toHaveCount(0);
  await field.press('Enter');
  await asked;
  await expect(palette).toBeVisible();
  await expect(palette).not.toContainText('No results');
  release();
  await expect(palette.getByRole('option')).toHaveText(/^Acme Robotics/u);
  await field.press('Enter');
  await expect(desk.getByRole('complementary', { name: 'Acme Robotics' })).toBeVisible();
});

test('the palette that is asked for while it closes stays open', async ({ desk }) => {
  await desk.keyboard.press('Control+k');
  const palette = desk.getByRole('dialog', { name: 'Search' });
  await palette.evaluate(async (dialog: HTMLDialogElement) => {
    const closed = new Promise((resolve) => {
      dialog.addEventListener('close', resolve, { once: true });
    });
    // As Escape does it; the event comes in a task after the next key.
    dialog.requestClose();
    await Promise.resolve();
    dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }));
    await closed;
  });
  await desk.keyboard.type('licen');
  await expect(palette.getByRole('combobox')).toHaveValue('licen');
});

test('the choice that the palette highlights stays when more are found', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Cen Labs' });
  await desk.keyboard.press('Control+k');
  const palette = desk.getByRole('dialog', { name: 'Search' });
  const { asked, release } = await holdReply(desk, 'licenses/', 'GET');
  await palette.getByRole('combobox').fill('cen');
  await asked;
  await desk.keyboard.press('ArrowUp');
  const selected = palette.locator('[aria-selected="true"]');
  const text = (await palette.getByRole('option').last().textContent()) ?? '';
  await expect(selected).toHaveText(text);
  release();
  await expect(palette.getByRole('option', { name: 'Cen Labs' })).toBeVisible();
  await expect(selected).toHaveText(text);
  await expect(selected).toBeInViewport();

  // Without a move, the first choice is highlighted, also if it has just been found.
  await palette.getByRole('combobox').fill('cen labs');
  await expect(selected).toHaveText(/^Cen Labs/u);
});

test('the palette opens again if it was open at a sign-out in another tab', async ({
  desk,
  context,
  server,
}) => {
  await desk.keyboard.press('Control+k');
  const palette = desk.getByRole('dialog', { name: 'Search' });
  await expect(palette).toBeVisible();
  const other = await context.newPage();
  await other.goto('/');
  await other.getByRole('button', { name: 'Sign out' }).click();
  await desk.getByLabel('Already have a link?').fill(await server.link());
  await desk.getByRole('button', { name: 'Sign in' }).click();
  await expect(desk.getByRole('button', { name: 'Sign out' })).toBeVisible();
  await desk.keyboard.press('Control+k');
  await expect(palette.getByRole('combobox')).toBeFocused();
});

test('changes from elsewhere appear without a reload', async ({ desk, server }) => {
  await desk.goto('/#/licenses');
  await expect(desk.getByText('No licenses yet')).toBeVisible();
  await server.cli('license', 'create', '--holder', 'From the shell');
  await expect(desk.getByRole('gridcell', { name: 'From the shell', exact: true })).toBeVisible();
});

test('switches the language and remembers it', async ({ desk }) => {
  // Who asks for less motion gets none.
  const link = desk.getByRole('navigation').getByRole('link', { name: 'Audit' });
  await desk.emulateMedia({ reducedMotion: 'no-preference' });
  await expect(link).not.toHaveCSS('transition-duration', '0s');
  await desk.emulateMedia({ reducedMotion: 'reduce' });
  await expect(link).toHaveCSS('transition-duration', '0s');
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
