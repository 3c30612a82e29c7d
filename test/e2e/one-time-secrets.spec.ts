// A secret that is shown once is not lost on the way to its dialog, nor with the page around it.
import type { Locator, Page } from '@playwright/test';
import { holdReply } from './held-reply.ts';
import { goTo } from './tasks.ts';
import { chooseAction, expect, issueLicense, stayWhenAsked, test } from './test.ts';

async function pickLicense(desk: Page): Promise<void> {
  await desk.getByRole('dialog').getByRole('combobox', { name: 'License' }).fill('Acme');
  await desk.getByRole('option', { name: 'Acme' }).click();
}

async function fillCertificate(desk: Page): Promise<void> {
  await goTo(desk, 'Certificates');
  await desk.getByRole('button', { name: 'Issue your first certificate' }).click();
  await pickLicense(desk);
  await desk.getByLabel('Common name').fill('Workstation 7');
}

/** @returns the dialog that offers the key */
async function issueCertificate(desk: Page): Promise<Locator> {
  await issueLicense(desk, { holder: 'Acme' });
  await fillCertificate(desk);
  await desk.getByRole('button', { name: 'Issue', exact: true }).click();
  return desk.getByRole('dialog', { name: 'Certificate issued' });
}

async function registerWebhook(desk: Page): Promise<void> {
  const data = { url: 'https://93.184.216.34/hook', scope: 'license.renewed' };
  const response = await desk.request.post('/admin/api/webhooks/register/', { data });
  expect(response.ok(), await response.text()).toBe(true);
}

const calls: { call: string; path: string; ask(desk: Page): Promise<string>; secret: RegExp }[] = [
  {
    call: 'issuing an authorization token',
    path: 'tokens/',
    async ask(desk) {
      await desk.goto('/#/authorization-tokens');
      await desk.getByRole('button', { name: 'Issue your first token' }).click();
      await pickLicense(desk);
      return 'Issue';
    },
    secret: /^ldt_[\w-]{43}$/u,
  },
  {
    call: 'creating an API token',
    path: 'api-tokens/',
    async ask(desk) {
      await desk.goto('/#/api-access');
      await desk.getByRole('button', { name: 'Create your first API token' }).click();
      await desk.getByLabel('Name').fill('Web-Shop');
      return 'Create token';
    },
    secret: /^ldk_[\w-]{20,}$/u,
  },
  {
    call: 'registering a webhook',
    path: 'webhooks/register/',
    async ask(desk) {
      await desk.goto('/#/webhooks');
      await desk.getByRole('button', { name: 'Register your first webhook' }).click();
      await desk.getByLabel('URL').fill('https://93.184.216.34/hook');
      await desk.getByLabel('Events').selectOption('license.renewed');
      return 'Register';
    },
    secret: /^whsec_/u,
  },
  {
    call: "rotating a webhook's secret",
    path: 'webhooks/rotate/',
    async ask(desk) {
      await registerWebhook(desk);
      await desk.goto('/#/webhooks/1');
      await chooseAction(desk, 'Rotate secret');
      return 'Rotate secret';
    },
    secret: /^whsec_/u,
  },
  {
    call: 'issuing a certificate',
    path: 'certs/generate/',
    async ask(desk) {
      await fillCertificate(desk);
      return 'Issue';
    },
    secret: /You can download the private key once/u,
  },
  {
    call: 'downloading a key',
    path: 'certs/download-key/',
    async ask(desk) {
      await fillCertificate(desk);
      await desk.getByRole('button', { name: 'Issue', exact: true }).click();
      return 'Download key and certificate';
    },
    secret: /The server no longer has the key/u,
  },
];

for (const { call, path, ask, secret } of calls)
  test(`${call} keeps its dialog open until the reply arrives`, { tag: '@browser' }, async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme' });
    const action = await ask(desk);
    const dialog = desk.getByRole('dialog');
    const { asked, release } = await holdReply(desk, path, path === 'certs/download-key/' ? 'GET' : 'POST');
    await dialog.getByRole('button', { name: action, exact: true }).click();
    await asked;
    // Chromium lets a page prevent the first one only.
    await desk.keyboard.press('Escape');
    await desk.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Dismiss' }).click();
    await expect(dialog.getByRole('button', { name: /^(?:Cancel|Close without key)/u })).toBeDisabled();
    release();
    await expect(dialog.getByText(secret)).toBeVisible();
  });

/** As the address bar does it, without the router. */
const typeAddress = (desk: Page, screen: string) =>
  desk.evaluate((hash) => {
    location.hash = hash;
  }, `#/${screen}`);

test(
  'Back asks before it leaves a secret, and so does closing the tab',
  { tag: '@browser' },
  async ({ desk }) => {
    const asked = stayWhenAsked(desk);
    await typeAddress(desk, 'api-access');
    await desk.getByRole('button', { name: 'Create your first API token' }).click();
    await desk.getByLabel('Name').fill('Web-Shop');
    await desk.getByRole('button', { name: 'Create token' }).click();
    const created = desk.getByRole('dialog', { name: 'API token created' });
    await expect(created).toBeVisible();
    await desk.goBack();
    const question = created.getByRole('alert');
    await expect(question).toContainText('You have not confirmed that the secret is stored.');
    await expect(created.getByText(/^ldk_[\w-]{20,}$/u)).toBeVisible();
    await expect(desk).toHaveURL(/#\/api-access$/u);
    await question.getByRole('button', { name: 'Keep open' }).click();
    await desk.close({ runBeforeUnload: true });
    await expect.poll(() => asked).toEqual(['beforeunload']);
    await created.getByRole('button', { name: 'I have saved it' }).click();
    await desk.goBack();
    await expect(desk).toHaveURL(/#\/overview$/u);
    await desk.reload();
    await expect(desk.getByRole('heading', { name: 'Overview' })).toBeVisible();
    expect(asked).toEqual(['beforeunload']);
  },
);

test(
  'a key that was not downloaded yet is not left without a question',
  { tag: '@browser' },
  async ({ desk }) => {
    const issued = await issueCertificate(desk);
    await expect(issued).toContainText('You can download the private key once');
    const question = issued.getByRole('alert');
    const attempts = [
      () => desk.keyboard.press('Escape'),
      () => issued.getByRole('button', { name: 'Dismiss' }).click(),
      () => desk.goBack(),
    ];
    for (const leave of attempts) {
      await leave();
      await expect(question).toContainText('The private key was not downloaded yet.');
      await question.getByRole('button', { name: 'Keep open' }).click();
      await expect(question).toHaveCount(0);
    }
    await expect(desk).toHaveURL(/#\/certificates$/u);
    await issued.getByRole('button', { name: 'Close without key' }).click();
    await expect(issued).toHaveCount(0);
  },
);

test(
  'the question before a loss changes when the key is downloaded',
  { tag: '@browser' },
  async ({ desk }) => {
    const issued = await issueCertificate(desk);
    const question = issued.getByRole('alert');
    const download = issued.getByRole('button', { name: 'Download key and certificate' });
    await expect(download).toBeVisible();
    await desk.keyboard.press('Escape');
    await expect(question).toContainText('Without it, the certificate cannot be used.');
    await download.click();
    await expect(question).toContainText('You have not confirmed that the secret is stored.');
    await question.getByRole('button', { name: 'Close anyway' }).click();
    await expect(issued).toHaveCount(0);
  },
);
