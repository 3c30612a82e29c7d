// A dialog stays open until the reply to its call arrives: closed earlier, it would hide a refusal.
import type { Page } from '@playwright/test';
import { holdReply } from './held-reply.ts';
import { chooseAction, expect, issueLicense, test } from './test.ts';

interface Case {
  call: string;
  /** Of the back office's API. */
  path: string;
  method?: string;
  /** Opens the dialog and fills it in. */
  prepare(desk: Page): Promise<void>;
  submit: string;
  /** The button that ends the call early. */
  stop?: string;
}

async function openBulk(desk: Page, action: 'Renew' | 'Revoke'): Promise<void> {
  await desk.goto('/#/licenses');
  await desk.getByRole('checkbox', { name: 'Select Acme' }).check();
  const selection = desk.getByRole('group', { name: 'Selected licenses' });
  await selection.getByRole('button', { name: action }).click();
}

const cases: Case[] = [
  {
    call: 'editing a license',
    path: 'licenses/',
    method: 'PUT',
    async prepare(desk) {
      await desk.goto('/#/licenses?open=1&action=edit');
      await desk.getByRole('dialog').getByLabel('Holder').fill('Globex');
    },
    submit: 'Save',
  },
  {
    call: 'renewing a license',
    path: 'licenses/renew/',
    async prepare(desk) {
      await desk.goto('/#/licenses?open=1');
      await desk.getByRole('complementary').getByRole('button', { name: 'Renew' }).click();
    },
    submit: 'Renew',
  },
  {
    call: 'issuing a license',
    path: 'licenses/',
    async prepare(desk) {
      await desk.goto('/#/licenses');
      await desk.getByRole('button', { name: 'New license' }).click();
      await desk.getByRole('dialog').getByLabel('Holder').fill('Globex');
    },
    submit: 'Issue license',
  },
  {
    call: 'renewing selected licenses',
    path: 'licenses/bulk/renew/',
    prepare: (desk) => openBulk(desk, 'Renew'),
    submit: 'Renew',
    stop: 'Stop',
  },
  {
    call: 'revoking selected licenses',
    path: 'licenses/bulk/revoke/',
    async prepare(desk) {
      await openBulk(desk, 'Revoke');
      await desk.getByRole('dialog').getByLabel('Type 1 to confirm').fill('1');
    },
    submit: 'Revoke',
    stop: 'Stop',
  },
  {
    call: 'importing licenses',
    path: 'licenses/import/run/',
    async prepare(desk) {
      await desk.goto('/#/licenses');
      await chooseAction(desk, 'Import from CSV');
      const dialog = desk.getByRole('dialog');
      const file = { name: 'licenses.csv', mimeType: 'text/csv', buffer: Buffer.from('holder\nGlobex\n') };
      await dialog.getByLabel('CSV file').setInputFiles(file);
      await dialog.getByRole('button', { name: 'Check all rows' }).click();
    },
    submit: 'Import 1 license',
    stop: 'Cancel',
  },
  {
    call: 'importing an options file',
    path: 'lease-rules/import/',
    async prepare(desk) {
      const plan = { name: 'pool', licensing: 'floating', seats: 10 };
      expect((await desk.request.post('/admin/api/plans/', { data: plan })).ok()).toBe(true);
      await issueLicense(desk, { holder: 'Globex', plan: plan.name });
      await desk.goto('/#/floating?view=rules');
      // The overview, which is left, may have a link of the same name.
      await expect(desk.getByRole('heading', { name: 'Floating licenses', level: 1 })).toBeVisible();
      await desk.getByRole('link', { name: 'Globex' }).click();
      await desk.getByRole('button', { name: 'Import options file' }).click();
      const dialog = desk.getByRole('dialog');
      await dialog.getByLabel('Options file', { exact: true }).fill('GROUP designers ada grace\n');
      await dialog.getByRole('button', { name: 'Check file' }).click();
      // The check is a call to the same address.
      await expect(dialog.getByRole('button', { name: 'Import', exact: true })).toBeEnabled();
    },
    submit: 'Import',
  },
];

for (const { call, path, method, prepare, submit, stop } of cases)
  test(`${call} keeps its dialog open until the reply arrives`, { tag: '@browser' }, async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme' });
    await prepare(desk);
    const { asked, release } = await holdReply(desk, path, method);
    const dialog = desk.getByRole('dialog');
    await dialog.getByRole('button', { name: submit, exact: true }).click();
    await asked;
    // Chromium lets a page prevent the first one only.
    await desk.keyboard.press('Escape');
    await desk.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Dismiss' }).click();
    const wayOut = dialog.getByRole('button', { name: stop ?? 'Cancel' });
    await expect(wayOut).toBeEnabled({ enabled: stop !== undefined });
    release();
    await expect(wayOut).toHaveCount(0);
  });
