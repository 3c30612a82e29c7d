import { expect, issueLicense, test } from './test.ts';

test('what is wrong with an entry is said in the language of the page', async ({ desk }) => {
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/licenses?new=1');
  const dialog = desk.getByRole('dialog', { name: 'Neue Lizenz' });
  await dialog.getByRole('button', { name: 'Lizenz ausstellen' }).click();
  const holder = dialog.getByLabel('Inhaber');
  await expect(holder).toBeFocused();
  await expect(holder).toHaveAccessibleDescription(/^Dieses Feld ist erforderlich/u);
  await holder.fill('Acme');
  await expect(holder).not.toHaveAttribute('aria-invalid');
  await dialog.getByLabel('Laufzeit (Tage)').fill('0');
  await desk.keyboard.press('Enter');
  await expect(dialog.getByLabel('Laufzeit (Tage)')).toHaveAccessibleDescription(
    /^Geben Sie eine Zahl von 1 bis/u,
  );
  await expect(desk.getByRole('dialog')).toHaveCount(1);
});

test('an English message of the server is marked as English on a German page', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/licenses?open=1&action=edit');
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('E-Mail').fill('no address');
  await dialog.getByRole('button', { name: 'Speichern' }).click();
  const refused = dialog.getByRole('alert');
  await expect(refused).toContainText('Der Server hat diese Werte abgelehnt:');
  await expect(refused.locator('li [lang="en"]')).toHaveText(/\w/u);
  await dialog.getByRole('button', { name: 'Abbrechen' }).click();

  await desk.getByRole('complementary').getByRole('button', { name: 'Verlängern' }).click();
  await dialog.getByRole('button', { name: 'Verlängern' }).click();
  const results = desk.getByRole('log');
  // The focus keeps the result on the page.
  await results.getByRole('button', { name: 'Rückgängig' }).focus();
  const revoked = await desk.request.post('/admin/api/licenses/revoke/', { data: { ref: key } });
  expect(revoked.ok(), await revoked.text()).toBe(true);
  await desk.keyboard.press('Enter');
  await expect(results).toContainText('Nicht rückgängig gemacht: Die Lizenz ist widerrufen.');
  await expect(results.locator('[lang="en"]')).toContainText('revoked');
});

test('a webhook whose host does not resolve is refused without advice about private networks', async ({
  desk,
}) => {
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/webhooks');
  await desk.getByRole('button', { name: 'Ersten Webhook registrieren' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://nowhere.invalid/hook');
  await dialog.getByRole('button', { name: 'Registrieren' }).click();
  const refused = dialog.getByRole('alert');
  await expect(refused).toContainText('Der Hostname kann nicht aufgelöst werden.');
  await expect(refused).not.toContainText('privates Netzwerk');
  await expect(dialog.getByLabel('URL')).toBeFocused();
});
