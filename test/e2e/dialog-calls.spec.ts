// A dialog stays open until the reply to its call arrives: closed earlier, it would hide a refusal.
import type { Page } from '@playwright/test';
import { holdReply } from './held-reply.ts';
import { expect, issueLicense, test } from './test.ts';

interface Case {
  call: string;
  /** Of the back office's API. */
  path: string;
  method?: string;
  /** Opens the dialog and fills it in. */
  prepare(desk: Page): Promise<void>;
  submit: string;
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
];

for (const { call, path, method, prepare, submit } of cases)
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
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeDisabled();
    release();
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toHaveCount(0);
  });
