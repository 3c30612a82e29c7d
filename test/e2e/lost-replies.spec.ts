// A form whose reply was lost can be sent again: what the first try did is not done twice.
import type { Page } from '@playwright/test';
import { expect, issueLicense, test } from './test.ts';

interface Listed {
  issued_at: string;
  expires_at: string;
}

/** The server carries the first call out, but the page receives no reply. */
async function loseFirstReply(desk: Page, path: string): Promise<void> {
  let isLost = false;
  await desk.route(`**/admin/api/${path}`, async (route) => {
    if (isLost || route.request().method() !== 'POST') return route.continue();
    isLost = true;
    await route.fetch();
    return route.abort();
  });
}

async function list<Item = object>(desk: Page, path: string): Promise<Item[]> {
  const response = await desk.request.get(`/admin/api/${path}`);
  return ((await response.json()) as { items: Item[] }).items;
}

const NOT_TWICE = 'the change is not made a second time';

test('a second try to issue a license issues no second one', async ({ desk }) => {
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'New license' }).click();
  const dialog = desk.getByRole('dialog', { name: 'New license' });
  await dialog.getByRole('textbox', { name: 'Holder' }).fill('Acme');
  await loseFirstReply(desk, 'licenses/');
  const issue = dialog.getByRole('button', { name: 'Issue license' });
  await issue.click();
  await expect(dialog.getByRole('alert')).toContainText(NOT_TWICE);
  await issue.click();
  await expect(dialog).toHaveCount(0);
  expect(await list(desk, 'licenses/')).toHaveLength(1);

  // The next license is another one, even with the same content.
  await desk.getByRole('button', { name: 'Issue another' }).click();
  await dialog.getByRole('textbox', { name: 'Holder' }).fill('Acme');
  await issue.click();
  await expect(dialog).toHaveCount(0);
  expect(await list(desk, 'licenses/')).toHaveLength(2);
});

test('a form that was changed after a lost reply is sent as a new one', async ({ desk }) => {
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'New license' }).click();
  const dialog = desk.getByRole('dialog', { name: 'New license' });
  await dialog.getByRole('textbox', { name: 'Holder' }).fill('Acme');
  await loseFirstReply(desk, 'licenses/');
  await dialog.getByRole('button', { name: 'Issue license' }).click();
  await expect(dialog.getByRole('alert')).toContainText(NOT_TWICE);
  await dialog.getByRole('textbox', { name: 'Holder' }).fill('Globex');
  await dialog.getByRole('button', { name: 'Issue license' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await list(desk, 'licenses/')).toMatchObject([{ holder: 'Globex' }, { holder: 'Acme' }]);
});

/** A license for 365 days, and the dialog to renew it by as many. */
async function openRenewal(desk: Page) {
  const key = await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/licenses?open=1');
  await desk.getByRole('complementary', { name: 'Acme' }).getByRole('button', { name: 'Renew' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Renew the license of Acme' });
  return {
    key,
    dialog,
    preview: dialog.getByText('Expires:'),
    alert: dialog.getByRole('alert'),
    renew: dialog.getByRole('button', { name: 'Renew' }),
    async countDays(): Promise<number> {
      const [license] = await list<Listed>(desk, 'licenses/');
      const length = Date.parse(license?.expires_at ?? '') - Date.parse(license?.issued_at ?? '');
      return Math.round(length / 86_400_000);
    },
  };
}

/** The page has read the license once more. */
const refresh = (desk: Page) =>
  desk.waitForResponse((response) => response.url().includes('/licenses/show/'));

test('a second try to renew a license renews it once, from where the first one started', async ({ desk }) => {
  const { dialog, preview, alert, renew, countDays } = await openRenewal(desk);
  const before = (await preview.textContent()) ?? '';
  await loseFirstReply(desk, 'licenses/renew/');
  const refreshed = refresh(desk);
  await renew.click();
  await expect(alert).toContainText(NOT_TWICE);
  await refreshed;
  await expect(preview).toHaveText(before);
  await renew.click();
  await expect(dialog).toHaveCount(0);
  expect(await countDays()).toBe(730);
});

test('a try that fails otherwise does not make the next one another renewal', async ({ desk }) => {
  const { dialog, preview, alert, renew, countDays } = await openRenewal(desk);
  const before = (await preview.textContent()) ?? '';
  await loseFirstReply(desk, 'licenses/renew/');
  const refreshed = refresh(desk);
  await renew.click();
  await expect(alert).toContainText(NOT_TWICE);
  await refreshed;
  const overloaded = { ok: false, error_code: 'overloaded', message: 'too many requests' };
  await desk.route('**/licenses/renew/', (route) => route.fulfill({ status: 503, json: overloaded }), {
    times: 1,
  });
  await renew.click();
  await expect(alert).not.toContainText(NOT_TWICE);
  await expect(alert).toBeVisible();
  await expect(preview).toHaveText(before);
  await renew.click();
  await expect(dialog).toHaveCount(0);
  expect(await countDays()).toBe(730);
});

test('a second try does not extend what was renewed elsewhere since the first', async ({ desk }) => {
  const { key, dialog, preview, alert, renew, countDays } = await openRenewal(desk);
  const before = (await preview.textContent()) ?? '';
  await desk.route('**/licenses/renew/', (route) => route.abort(), { times: 1 });
  await renew.click();
  await expect(alert).toContainText(NOT_TWICE);
  const elsewhere = await desk.request.post('/admin/api/licenses/renew/', { data: { ref: key } });
  expect(elsewhere.ok(), await elsewhere.text()).toBe(true);
  await renew.click();
  await expect(alert).toContainText('the expiry date was changed meanwhile');
  expect(await countDays()).toBe(730);
  // The next one starts from there, and says so.
  await expect(preview).not.toHaveText(before);
  await renew.click();
  await expect(dialog).toHaveCount(0);
  expect(await countDays()).toBe(1095);
});

test('a second try to register a webhook shows the secret of the first', async ({ desk }) => {
  await desk.goto('/#/webhooks');
  await desk.getByRole('button', { name: 'Register your first webhook' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://93.184.216.34/hook');
  await loseFirstReply(desk, 'webhooks/register/');
  await dialog.getByRole('button', { name: 'Register' }).click();
  await expect(dialog.getByRole('alert')).toContainText(NOT_TWICE);
  await dialog.getByRole('button', { name: 'Register' }).click();
  await expect(desk.getByRole('dialog', { name: 'Webhook registered' })).toContainText('whsec_');
  expect(await list(desk, 'webhooks/')).toHaveLength(1);
});

/** Loses the first reply, and tries again. @returns the dialog that offers the key */
async function issueCertificateTwice(desk: Page) {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/certificates');
  await desk.getByRole('button', { name: 'Issue your first certificate' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'License' }).fill('Acme');
  await desk.getByRole('option', { name: 'Acme' }).click();
  await dialog.getByLabel('Common name').fill('Workstation 7');
  await loseFirstReply(desk, 'certs/generate/');
  await dialog.getByRole('button', { name: 'Issue', exact: true }).click();
  await expect(dialog.getByRole('alert')).toContainText(NOT_TWICE);
  await dialog.getByRole('button', { name: 'Issue', exact: true }).click();
  return desk.getByRole('dialog', { name: 'Certificate issued' });
}

test('a second try to issue a certificate issues no second one', async ({ desk }) => {
  await expect(await issueCertificateTwice(desk)).toBeVisible();
  expect(await list(desk, 'certs/')).toHaveLength(1);
});

test('a certificate whose key is gone is to be revoked', { tag: '@browser' }, async ({ desk }) => {
  // As 15 minutes later: the token of the first reply opens nothing.
  const gone = { ok: false, error_code: 'download_token_invalid', message: 'this link has expired' };
  await desk.route('**/certs/download-key/*', (route) => route.fulfill({ status: 404, json: gone }));
  const issued = await issueCertificateTwice(desk);
  await expect(issued).toContainText(/once, until [\d-]{10} [\d:]{8} UTC \(in 15 minutes\)/u);
  await issued.getByRole('button', { name: 'Download key and certificate' }).click();
  const alert = issued.getByRole('alert');
  await expect(alert).toContainText('Revoke this certificate and issue another one.');
  await expect(issued).not.toContainText('You can download the private key');
  await expect(issued.getByRole('button', { name: 'Download key and certificate' })).toHaveCount(0);
  // Nothing is lost any more.
  await desk.keyboard.press('Escape');
  await expect(issued).toHaveCount(0);
});

test('a second try to add a rule adds no second one', async ({ desk }) => {
  const plan = await desk.request.post('/admin/api/plans/', {
    data: { name: 'pool', licensing: 'floating', seats: 10 },
  });
  expect(plan.ok(), await plan.text()).toBe(true);
  await issueLicense(desk, { holder: 'Acme', plan: 'pool' });
  await desk.goto('/#/floating?view=rules');
  await expect(desk.getByRole('heading', { name: 'Floating licenses', level: 1 })).toBeVisible();
  await desk.getByRole('link', { name: 'Acme' }).click();
  await desk.getByRole('button', { name: 'Add rule' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('User').fill('ada');
  await loseFirstReply(desk, 'lease-rules/');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toContainText(NOT_TWICE);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await list(desk, 'lease-rules/')).toHaveLength(1);
});

test('the reply to a new API token is not kept: the form says what to do first', async ({ desk }) => {
  await desk.goto('/#/api-access');
  await desk.getByRole('button', { name: 'Create your first API token' }).click();
  const dialog = desk.getByRole('dialog', { name: 'New API token' });
  await dialog.getByLabel('Name').fill('ERP');
  await loseFirstReply(desk, 'api-tokens/');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await expect(dialog.getByRole('alert')).toContainText('revoke it before you try again');
});
