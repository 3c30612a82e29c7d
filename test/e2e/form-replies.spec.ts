// A reply is shown only beside the input that it is about.
import type { Page } from '@playwright/test';
import { holdReply } from './held-reply.ts';
import { chooseAction, expect, issueLicense, test } from './test.ts';

interface Case {
  call: string;
  /** Of the back office's API. */
  path: string;
  /** Opens the form and fills it in. */
  prepare(desk: Page): Promise<void>;
  submit: string;
  /** Enters something else. */
  change(desk: Page): Promise<void>;
  /** What the reply to the first input would show. */
  shown(desk: Page): ReturnType<Page['getByText']>;
}

const certificate = (desk: Page) => desk.getByRole('dialog').getByLabel('Certificate (PEM) or serial number');

const cases: Case[] = [
  {
    call: 'the check of a certificate',
    path: 'certs/validate/',
    async prepare(desk) {
      await desk.goto('/#/certificates');
      await desk.getByRole('button', { name: 'Check certificate' }).click();
      await certificate(desk).fill('0a0b');
    },
    submit: 'Check',
    change: (desk) => certificate(desk).fill('0c0d'),
    shown: (desk) => desk.getByText('This server has not issued a certificate'),
  },
  {
    call: 'a refused check of a certificate',
    path: 'certs/validate/',
    async prepare(desk) {
      await desk.goto('/#/certificates');
      await desk.getByRole('button', { name: 'Check certificate' }).click();
      await certificate(desk).fill('no such thing');
    },
    submit: 'Check',
    change: (desk) => certificate(desk).fill('0c0d'),
    shown: (desk) => desk.getByText('must be a serial number in hex'),
  },
  {
    call: 'the check of an import',
    path: 'licenses/import/preview/',
    async prepare(desk) {
      await desk.goto('/#/licenses');
      await chooseAction(desk, 'Import from CSV');
      const text = 'holder,contact\nAcme,\n,Globex\n';
      await desk
        .getByLabel('CSV file')
        .setInputFiles({ name: 'licenses.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    },
    submit: 'Check all rows',
    change: async (desk) => void (await desk.getByLabel('Holder').selectOption('contact')),
    shown: (desk) => desk.getByRole('button', { name: 'Import 1, skip 1' }),
  },
  {
    call: 'a signed license file',
    path: 'licenses/file/',
    async prepare(desk) {
      await desk.goto('/#/licenses?open=1&tab=file');
    },
    submit: 'Sign license file',
    change: (desk) => desk.getByLabel('File validity (days)').fill('30'),
    shown: (desk) => desk.getByText('License file signed.'),
  },
];

for (const { call, path, prepare, submit, change, shown } of cases)
  test(`${call} is not shown beside what was entered meanwhile`, { tag: '@browser' }, async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme' });
    await prepare(desk);
    const { asked, release } = await holdReply(desk, path);
    const button = desk.getByRole('button', { name: submit, exact: true });
    await button.click();
    await asked;
    await expect(button).toBeDisabled();
    await change(desk);
    release();
    await expect(button).toBeEnabled();
    await expect(shown(desk)).toHaveCount(0);
  });

test('a signed license file is shown until another is asked for', { tag: '@browser' }, async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/licenses?open=1&tab=file');
  const sign = desk.getByRole('button', { name: 'Sign license file' });
  const signed = desk.getByText('License file signed.');
  await sign.click();
  await expect(signed).toBeVisible();
  await desk.request.put('/admin/api/licenses/', { data: { ref: '1', holder: 'Globex' } });
  await expect(desk.getByRole('complementary', { name: 'Globex' })).toBeVisible();
  await expect(signed).toBeVisible();
  await desk.getByLabel('File validity (days)').fill('30');
  await expect(signed).toHaveCount(0);
  await sign.click();
  await expect(signed).toBeVisible();
});
