// What the page does only in the app, not in a browser.
import type { Page } from '@playwright/test';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import { expectAccessible } from './accessibility.ts';
import { addFakeShell, openWithApp, refuseInShell } from './fake-shell.ts';
import { gate } from './gate.ts';
import { alertWith, dropFile, expect, issueLicense, test } from './test.ts';

function requestFor(licenseKey: string): string {
  const fingerprint = `sha256:${'5c'.repeat(32)}`;
  return formatMachineRequest({
    licenseKey,
    fingerprint,
    nonce: 'n-1',
    machineName: 'Messplatz 4',
    issuedAt: Date.now(),
  });
}

test('a file opened with the app or dropped on the page goes to the air-gap desk', async ({
  desk,
  server,
}) => {
  const request = requestFor(await issueLicense(desk, { holder: 'Acme' }));
  const preview = desk.getByRole('region', { name: 'Request details' });
  const file = desk.getByRole('textbox', { name: 'License file' });
  await dropFile(desk, 'machine.REQ', request);
  await expect(preview).toContainText('Messplatz 4');
  await dropFile(desk, 'film.lic', 'x'.repeat(40_000));
  await expect(alertWith(desk, /^film\.lic is larger than 32 KiB/u)).toBeVisible();
  await expect(file).toHaveValue('');
  await dropFile(desk, 'notes.txt', 'not for us');
  await expect(file).toHaveValue('');

  // Opened before the page was loaded.
  await addFakeShell(desk, [{ name: 'machine.req', kind: 'request', text: request }]);
  await desk.goto('/#/licenses');
  await desk.reload();
  await expect(preview).toContainText('Messplatz 4');
  await expect(desk).toHaveURL(`${server.origin}/#/air-gap`);

  // A draft stays until the dialog is closed.
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'New license' }).click();
  await desk.getByLabel('Holder').fill('Half a na');
  await openWithApp(desk, { name: 'station.lic', kind: 'license', text: 'hello' });
  await dropFile(desk, 'other.lic', 'dropped behind the dialog');
  await expect(desk.getByLabel('Holder')).toHaveValue('Half a na');
  await desk.keyboard.press('Escape');
  await expect(file).toHaveValue('hello');
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await expect(desk.getByText('This is not a license file.')).toBeVisible();
  // More files, of the same kind and of the other kind.
  await openWithApp(desk, { name: 'another.lic', kind: 'license', text: 'hello again' });
  await expect(file).toHaveValue('hello again');
  await openWithApp(desk, { name: 'machine.req', kind: 'request', text: request });
  await expect(preview).toContainText('Messplatz 4');

  // Signed out: the shell keeps the file.
  await desk.getByRole('button', { name: 'Sign out' }).click();
  await expect(desk.getByRole('button', { name: 'Sign in again' })).toBeVisible();
  await openWithApp(desk, { name: 'late.req', kind: 'request', text: request });
  expect(await desk.evaluate(() => window.fakeShell.opened.map(({ name }) => name))).toEqual(['late.req']);
  await desk.goto(await server.link());
  await expect(preview).toContainText('Messplatz 4');
});

test(
  'a file that was dropped before the sign-out is not shown to the next administrator',
  { tag: '@browser' },
  async ({ desk, server }) => {
    const [asked, released] = [gate(), gate()];
    await desk.route(/\/assets\/AirGapPage-[^/]*\.js/u, async (route) => {
      asked.open();
      await released.isOpen;
      await route.continue();
    });
    await dropFile(desk, 'station.lic', 'x'.repeat(40_000));
    await asked.isOpen;
    await desk.getByRole('button', { name: 'Sign out' }).click();
    await desk.getByLabel('Already have a link?').fill(await server.link());
    await desk.getByRole('button', { name: 'Sign in' }).click();
    await expect(desk.getByRole('button', { name: 'Sign out' })).toBeVisible();
    released.open();
    // The screen would say with its first frame that the file is too large.
    await expect(desk.getByRole('textbox', { name: 'License file' })).toHaveValue('');
    await expect(desk.getByRole('alert')).toHaveCount(0);
  },
);

test('app preferences take effect immediately or report an error', async ({ desk }) => {
  await desk.goto('/#/settings?tab=app');
  await expect(desk.getByRole('tab', { name: 'Network' })).toHaveAttribute('aria-selected', 'true');
  await expect(desk.getByRole('tab', { name: 'This app' })).toHaveCount(0);
  await addFakeShell(desk);
  await desk.reload();
  const panel = desk.getByRole('region', { name: 'This app' });
  await expect(panel).toContainText('License Desk 1.2.3, Electron 45.0.0');
  const atLogin = panel.getByRole('checkbox', { name: 'Start when I sign in to this computer' });
  const address = panel.getByRole('textbox', { name: 'Update address' });
  await expect(panel.getByRole('checkbox', { name: 'Keep running when the window is closed' })).toBeChecked();
  await atLogin.check();
  await expect(panel.getByRole('status')).toHaveText('Saved.');
  await address.fill(' https://updates.example/desk ');
  await desk.keyboard.press('Enter');
  const preferences = () => desk.evaluate(() => window.fakeShell.preferences);
  await expect
    .poll(preferences)
    .toMatchObject({ start_at_login: true, update_address: 'https://updates.example/desk' });

  await refuseInShell(desk, 'the registry cannot be written');
  await atLogin.click();
  await expect(panel.getByRole('alert')).toHaveText('Not saved: the registry cannot be written');
  await expect(atLogin).toBeChecked();
  await refuseInShell(desk, 'an address begins with https://');
  await address.fill('ftp://updates.example');
  await desk.keyboard.press('Tab');
  await expect(panel.getByRole('alert').last()).toHaveText('Not saved: an address begins with https://');
  await expect(address).toHaveAttribute('aria-invalid', 'true');
  await expect(address).toHaveAccessibleDescription(/^Not saved: an address begins/u);
  await expectAccessible(desk);
  await refuseInShell(desk, '');
  await atLogin.uncheck();
  await expect(panel.getByRole('status')).toHaveText('Saved.');
  // Not saved yet, but not lost.
  await expect(address).toHaveValue('ftp://updates.example');
  await expect(panel.getByRole('alert')).toHaveCount(1);
  await address.fill('');
  await desk.keyboard.press('Enter');
  await expect(panel.getByRole('alert')).toHaveCount(0);
  await expect.poll(preferences).toMatchObject({ start_at_login: false, update_address: null });
});

/** As the system's own dialog is answered. */
const cancelSaving = (page: Page, isCanceling: boolean) =>
  page.evaluate((given) => {
    window.fakeShell.isCanceling = given;
  }, isCanceling);

test('a secret counts as stored once the app has saved it, not when its dialog is canceled', async ({
  desk,
}) => {
  await addFakeShell(desk);
  await desk.goto('/#/api-access');
  await desk.reload();
  await desk.getByRole('button', { name: 'Create your first API token' }).click();
  await desk.getByRole('dialog').getByLabel('Name').fill('shop');
  await desk.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
  const created = desk.getByRole('dialog', { name: 'API token created' });
  const secret = (await created.getByText(/^ldk_[\w-]{20,}$/u).textContent()) ?? '';
  const save = created.getByRole('button', { name: 'Save as file' });
  await cancelSaving(desk, true);
  await save.click();
  await created.getByLabel('Dismiss').click();
  await expect(created.getByRole('alert')).toContainText('You have not confirmed');
  await created.getByRole('button', { name: 'Keep open' }).click();
  await refuseInShell(desk, 'the disk is full');
  await save.click();
  await expect(created.getByRole('alert')).toContainText('the disk is full');
  await refuseInShell(desk, '');
  await cancelSaving(desk, false);
  await save.click();
  await expect
    .poll(() => desk.evaluate(() => window.fakeShell.secrets))
    .toEqual([{ name: 'api-token.txt', text: `${secret}\n` }]);
  await expect(created.getByRole('alert')).toHaveCount(0);
  await created.getByLabel('Dismiss').click();
  await expect(created).toHaveCount(0);
});

test('a downloaded key can be saved again after its dialog was canceled', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await addFakeShell(desk);
  await desk.goto('/#/certificates');
  await desk.reload();
  await desk.getByRole('button', { name: 'Issue your first certificate' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'License' }).fill('Acme');
  await dialog.getByRole('option', { name: 'Acme' }).click();
  await dialog.getByLabel('Common name').fill('Arbeitsplatz 7');
  await dialog.getByRole('button', { name: 'Issue' }).click();
  await cancelSaving(desk, true);
  await dialog.getByRole('button', { name: 'Download key and certificate' }).click();
  await expect(dialog).toContainText('The key is not saved. The server no longer has it.');
  await desk.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Keep open' }).click();
  await expectAccessible(desk);
  await cancelSaving(desk, false);
  await dialog.getByRole('button', { name: 'Save key and certificate' }).click();
  await expect(dialog).toContainText('Key and certificate saved as Arbeitsplatz-7.pem.');
  const [saved] = await desk.evaluate(() => window.fakeShell.secrets);
  expect(saved?.text).toMatch(/^-----BEGIN PRIVATE KEY-----[^]*-----BEGIN CERTIFICATE-----/u);
  await desk.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
});
