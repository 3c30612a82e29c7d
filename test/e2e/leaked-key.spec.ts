import { randomBytes } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import type { TestServer } from './server.ts';
import { expect, issueLicense, test } from './test.ts';

/** Borrows a seat of a new floating license for the device `workstation-7`. */
async function borrowSeat(page: Page, server: TestServer, holder: string): Promise<void> {
  const plan = `borrowed-${randomBytes(4).toString('hex')}`;
  const terms = { licensing: 'floating', seats: 1, borrow_max_hours: 24 };
  await page.request.post('/admin/api/plans/', { data: { name: plan, ...terms } });
  const license_key = await issueLicense(page, { holder, plan });
  const taken = await page.request.post(`${server.api}leases/checkout/`, {
    data: { license_key, instance_id: randomBytes(16).toString('hex'), host: 'workstation-7' },
  });
  const { lease_token } = (await taken.json()) as { lease_token: string };
  const machine_fingerprint = `sha256:${randomBytes(32).toString('hex')}`;
  const borrowed = await page.request.post(`${server.api}leases/borrow/`, {
    data: { lease_token, hours: 1, machine_fingerprint },
  });
  expect(borrowed.ok(), await borrowed.text()).toBe(true);
}

test(
  'a leaked signing key is distrusted permanently, and the files to reissue are listed',
  { tag: '@browser' },
  async ({ desk, server }) => {
    const license = await issueLicense(desk, { holder: 'Ústav soudního lékařství' });
    await borrowSeat(desk, server, 'Fjord Instruments AS');
    const issued = await desk.request.post('/admin/api/licenses/file/', { data: { license } });
    const { license_file: file } = (await issued.json()) as { license_file: string };
    await desk.goto('/#/settings?tab=keys');
    const active = desk.getByRole('row').filter({ hasText: 'Active' });
    const id = (await active.getByRole('rowheader').textContent()) ?? '';
    await desk.getByRole('button', { name: `Distrust key ${id}` }).click();
    const dialog = desk.getByRole('dialog', { name: 'Distrust the signing key?' });
    await expect(dialog).toContainText('This is the active key. A new key replaces it first.');
    const confirm = dialog.getByRole('button', { name: 'Distrust', exact: true });
    await expect(confirm).toBeDisabled();
    await dialog.getByLabel('Reason').fill('laptop stolen');
    await dialog.getByLabel(`Type ${id} to confirm`).fill(id);
    await expectAccessible(desk);
    await confirm.click();

    const row = desk.getByRole('table', { name: 'Signing keys' }).getByRole('row', { name: id });
    await expect(row).toContainText('Distrusted');
    await expect(row.getByRole('button', { name: `Distrust key ${id}` })).toHaveCount(0);
    const files = desk.getByRole('table', { name: `License files to reissue: ${id}` });
    await expect(files.getByRole('row', { name: 'Ústav soudního lékařství' })).toContainText('Any device');
    const seat = files.getByRole('row', { name: 'Fjord Instruments AS' });
    await expect(seat).toContainText(/workstation-7\s*Borrowed until \d{4}-\d{2}-\d{2}/u);
    await expectAccessible(desk);

    // Its new file is under the new key, so the list no longer names it.
    const reissued = await desk.request.post('/admin/api/licenses/file/', { data: { license } });
    expect(reissued.ok(), await reissued.text()).toBe(true);
    await expect(files.getByRole('row', { name: 'Ústav soudního lékařství' })).toHaveCount(0);
    await expect(seat).toBeVisible();

    await desk.goto('/#/air-gap?view=check');
    await desk.getByRole('textbox', { name: 'License file' }).fill(file);
    await desk.getByRole('button', { name: 'Check', exact: true }).click();
    await expect(desk.getByText('The file is signed with a distrusted key.')).toBeVisible();
  },
);
