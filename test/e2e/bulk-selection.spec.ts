// Everything that matches a filter is selected, and matches it no longer.
import { expect, importLicenses, test } from './test.ts';

test('licenses that all stopped matching are not offered for a bulk change', async ({ desk }) => {
  const ids = Array.from({ length: 120 }, (_, index) => index + 1);
  await importLicenses(
    desk,
    ids.map((id) => `Customer ${id}`),
  );
  await desk.goto('/#/licenses?state=issued');
  await desk.getByLabel('Select all loaded rows').check();
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  await selection.getByRole('button', { name: 'Select all 120 matching' }).click();
  await expect(selection).toContainText('120 selected');
  for (const batch of [ids.slice(0, 100), ids.slice(100)]) {
    const revoked = await desk.request.post('/admin/api/licenses/bulk/revoke/', {
      data: { license_ids: batch },
    });
    expect(revoked.ok(), await revoked.text()).toBe(true);
  }
  await expect(desk.getByText('No licenses match')).toBeVisible();
  await expect(selection).toContainText('None selected');
  for (const action of ['Renew', 'Export', 'Revoke'])
    await expect(selection.getByRole('button', { name: action })).toBeDisabled();
  await selection.getByRole('button', { name: 'Clear selection' }).click();
  await expect(selection).toHaveCount(0);
});
