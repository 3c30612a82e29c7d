// What the page does only in the app, not in a browser.
import type { Page } from '@playwright/test';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import { expectAccessible } from './accessibility.ts';
import { addFakeShell, openWithApp, refuseInShell } from './fake-shell.ts';
import { expect, issueLicense, test } from './test.ts';

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

/** Drops a file on the heading of the screen, which is not a file field. */
async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ([fileName, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], fileName));
      return transfer;
    },
    [name, text] as const,
  );
  await page.dispatchEvent('h1', 'drop', { dataTransfer });
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
  await expect(desk.getByRole('alert')).toHaveText(/^film\.lic is larger than 32 KiB/u);
  await expect(file).toHaveValue('');
  await dropFile(desk, 'notes.txt', 'not for us');
  await expect(file).toHaveValue('');

  // Opened before the page was loaded.
  await addFakeShell(desk, [{ name: 'machine.req', kind: 'request', text: request }]);
  await desk.goto('/#/licenses');
  await desk.reload();
  await expect(preview).toContainText('Messplatz 4');
  expect(desk.url()).toBe(`${server.origin}/#/air-gap`);

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
