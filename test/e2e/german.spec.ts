import { expect, issueLicense, test } from './test.ts';

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
