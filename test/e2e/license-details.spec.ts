import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import type { TestServer } from './server.ts';
import { task } from './tasks.ts';
import { chooseAction, expect, issueLicense, test } from './test.ts';

const FINGERPRINT = `sha256:${'4f'.repeat(32)}`;

async function post(page: Page, path: string, data: object): Promise<void> {
  const response = await page.request.post(`/admin/api/${path}/`, { data });
  expect(response.ok(), await response.text()).toBe(true);
}

/** As the device itself does. */
async function activate(page: Page, { api }: TestServer, key: string, fingerprint = FINGERPRINT) {
  const response = await page.request.post(`${api}activate/`, {
    data: {
      license_key: key,
      machine_fingerprint: fingerprint,
      machine_name: 'workstation-7',
    },
  });
  expect(response.ok(), await response.text()).toBe(true);
}

test('Diagnostics shows why a device was denied, with a remedy that works', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Fjord Instruments', product: 'field-kit' });
  await desk.goto('/#/licenses?open=1&tab=explain');
  const inspector = desk.getByRole('complementary', { name: 'Fjord Instruments' });
  await inspector.getByLabel('Device fingerprint').fill(FINGERPRINT);
  await inspector.getByLabel('Entitlement').fill('timeline');
  await inspector.getByRole('button', { name: 'Check', exact: true }).click();
  const verdict = inspector.getByRole('region', { name: 'Result' });
  await expect(verdict.getByRole('status').first()).toHaveText(
    /^Denied\s*The license is for a different product\.$/u,
  );
  await expect(verdict.getByRole('listitem')).toContainText([
    'Passed',
    'Passed',
    'Failed',
    'Failed',
    'Failed',
    'Passed',
  ]);
  await expectAccessible(desk);

  await verdict.getByRole('button', { name: 'Check for the licensed product' }).click();
  await expect(verdict.getByRole('status').first()).toHaveText(
    /^Denied\s*The device is not activated on this license\.$/u,
  );
  await verdict.getByRole('button', { name: 'Activate this device' }).click();
  await desk.getByLabel('Device name').fill('workstation-7');
  await desk.getByRole('button', { name: 'Activate', exact: true }).click();
  await expect(desk.getByRole('dialog').getByRole('status')).toContainText('The device is active.');
  await desk.getByRole('button', { name: 'Done' }).click();
  await expect(verdict.getByRole('status').first()).toHaveText(
    /^Denied\s*The license does not include this entitlement\.$/u,
  );
  await inspector.getByLabel('Entitlement').fill('');
  // The verdict was about another question.
  await expect(verdict).toHaveCount(0);
  await inspector.getByRole('button', { name: 'Check', exact: true }).click();
  await expect(verdict.getByRole('status').first()).toHaveText('Authorized');
  await inspector.getByRole('tab', { name: 'Devices' }).click();
  await expect(inspector.getByRole('listitem')).toContainText('workstation-7');
  await inspector.getByRole('tab', { name: 'Diagnostics' }).click();
  await expect(verdict.getByRole('status').first()).toHaveText('Authorized');
});

test(
  'a device gets its license file and is released, and the activity shows it',
  { tag: '@browser' },
  async ({ desk, server }) => {
    const key = await issueLicense(desk, { holder: 'Fjord Instruments', product: 'field-kit' });
    const activated = await fetch(`${server.api}activate/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        license_key: key,
        machine_fingerprint: FINGERPRINT,
        machine_name: 'workstation-7',
        product_slug: 'field-kit',
      }),
    });
    expect(activated.status).toBe(200);
    await desk.goto('/#/licenses?open=1');
    const inspector = desk.getByRole('complementary', { name: 'Fjord Instruments' });
    await inspector.getByRole('tab', { name: 'Access' }).click();
    await inspector.getByRole('button', { name: 'License file', exact: true }).click();
    await inspector.getByLabel('Device').selectOption({ index: 1 });
    await inspector.getByRole('button', { name: 'Sign license file' }).click();
    const downloaded = desk.waitForEvent('download');
    await inspector.getByRole('button', { name: 'Save license file' }).click();
    const download = await downloaded;
    expect(download.suggestedFilename()).toBe(`${key}.lic`);
    expect(await readFile(await download.path(), 'utf8')).toContain('BEGIN LICENSE FILE');

    await inspector.getByRole('tab', { name: 'Devices' }).click();
    await expect(inspector.getByRole('listitem')).toContainText('workstation-7');
    await inspector.getByRole('button', { name: 'Release' }).click();
    await desk
      .getByRole('dialog', { name: 'Release workstation-7?' })
      .getByRole('button', { name: 'Release' })
      .click();
    await expect(inspector.getByRole('listitem')).toContainText('Released');
    await inspector.getByRole('tab', { name: 'Activity' }).click();
    await expect(inspector.getByText('released workstation-7 from Fjord Instruments')).toBeVisible();
    await inspector.getByText('issued a license to Fjord Instruments').click();
    await expect(inspector.getByRole('definition').filter({ hasText: /^field-kit$/u })).toBeVisible();
    await desk.reload();
    await expect(inspector.getByRole('tab', { name: 'Activity' })).toHaveAttribute('aria-selected', 'true');
    await server.cli('license', 'renew', key, '--days', '10');
    await expect(inspector.getByText('renewed Fjord Instruments until')).toBeVisible();
    await expectAccessible(desk);
  },
);

test('a license is renewed, upgraded and revoked beside the list', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme', days: 10 });
  await desk.goto('/#/licenses?open=1');
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  await expect(inspector).toContainText('in 10 days');
  await inspector.getByRole('button', { name: 'Renew' }).click();
  const renewing = desk.getByRole('dialog', { name: 'Renew the license of Acme' });
  await desk.keyboard.press('Escape');
  await expect(renewing).toHaveCount(0);
  await inspector.getByRole('button', { name: 'Renew' }).click();
  await renewing.getByLabel('Extend').selectOption('By a number of days');
  await renewing.getByLabel('Term (days)').fill('20');
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await expect(inspector).toContainText('in 30 days');
  await inspector.getByRole('button', { name: 'Renew' }).click();
  await renewing.getByLabel('Extend').selectOption('Until a date');
  await renewing.getByLabel('Last day').fill('2999-12-31');
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await expect(inspector).toContainText('in 973 years');
  await inspector.getByRole('button', { name: 'Renew' }).click();
  await renewing.getByLabel('Extend').selectOption('Until a date');
  await renewing.getByLabel('Last day').fill('2998-12-31');
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await expect(renewing.getByRole('checkbox')).toBeFocused();
  await renewing.getByLabel('Allow an earlier expiry date').check();
  await renewing.getByRole('button', { name: 'Renew' }).click();
  await expect(inspector).toContainText('in 972 years');

  await chooseAction(inspector, 'Upgrade');
  const upgrading = desk.getByRole('dialog', { name: 'Upgrade the license of Acme' });
  await upgrading.getByLabel('New plan').selectOption({ label: 'Professional: 365 days, 5 seats' });
  await upgrading.getByRole('button', { name: 'Upgrade' }).click();
  await expect(inspector).toContainText('0/5');

  await inspector.getByRole('tab', { name: 'Access' }).click();
  await inspector.getByRole('button', { name: 'Issue token' }).click();
  const issuing = desk.getByRole('dialog', { name: 'Issue token' });
  await expect(issuing.getByLabel('License')).toHaveValue(`Acme · ${key}`);
  await expect(issuing).toContainText('The license has no active token for this product.');
  await issuing.getByRole('button', { name: 'Issue' }).click();
  await desk.getByRole('button', { name: 'I have saved it' }).click();
  await expect(inspector.getByRole('listitem')).toContainText('Active');
  await inspector.getByRole('button', { name: 'Revoke' }).click();
  const token = desk.getByRole('dialog', { name: /^Revoke token …/u });
  const lastFour = (await token.getByRole('heading').textContent())?.slice(-5, -1) ?? '';
  await token.getByLabel('Type').fill(lastFour);
  await token.getByRole('button', { name: 'Revoke' }).click();
  await expect(inspector.getByRole('listitem')).toContainText('Revoked');

  for (const [tab, view, text] of [
    ['Access', 'Certificates', 'This license has no certificates.'],
    ['Activity', 'Deliveries', 'No deliveries for this license yet.'],
  ] as const) {
    await inspector.getByRole('tab', { name: tab }).click();
    await inspector.getByRole('button', { name: view, exact: true }).click();
    await expect(inspector.getByRole('tabpanel')).toContainText(text);
  }

  await inspector.getByRole('tab', { name: 'Summary' }).click();
  await chooseAction(inspector, 'Revoke');
  const revoking = desk.getByRole('dialog', { name: 'Revoke the license of Acme?' });
  await revoking.getByLabel('Type').fill('wrong');
  await expect(revoking.getByRole('button', { name: 'Revoke' })).toBeDisabled();
  await revoking.getByLabel('Reason').fill('chargeback');
  await revoking.getByLabel('Type').fill(key.slice(-5));
  await revoking.getByRole('button', { name: 'Revoke' }).click();
  await expect(inspector.getByRole('tabpanel')).toContainText('chargeback');
  await expect(inspector.getByRole('button', { name: 'Renew' })).toHaveCount(0);
  await expectAccessible(desk);
});

test('a license is edited, and the edit is undone', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Bjorn Angstrom' });
  await desk.goto('/#/licenses?open=1');
  const inspector = desk.getByRole('complementary');
  await chooseAction(inspector, 'Edit');
  const dialog = desk.getByRole('dialog', { name: 'Edit license' });
  await dialog.getByLabel('Holder').fill('Björn Ångström');
  await dialog.getByLabel('Email').fill('no address');
  await dialog.getByLabel('Order number').fill('PO-4711');
  await dialog.getByLabel('Notes').fill('Paid in advance.\nRenew by phone.');
  const fields = dialog.getByRole('group', { name: 'Custom fields' });
  await fields.getByRole('button', { name: 'Add field' }).click();
  await expect(fields.getByLabel('Name')).toBeFocused();
  await fields.getByLabel('Name').fill('Cost center');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(fields.getByLabel('Value')).toBeFocused();
  await fields.getByLabel('Value').fill('KST 815');
  await fields.getByRole('button', { name: 'Add field' }).click();
  await fields.getByLabel('Name').nth(1).fill('COST center');
  await fields.getByLabel('Value').nth(1).fill('another');
  await expect(fields.getByRole('alert')).toHaveText('Use each name only once.');
  await expect(dialog.getByRole('button', { name: 'Save' })).toBeDisabled();
  await fields.getByRole('button', { name: 'Remove COST center', exact: true }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByLabel('Email')).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByLabel('Email').fill('bjorn@angstrom.example');
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const results = desk.getByRole('log', { name: 'Results' });
  // The pointer keeps the result on the page.
  await results.getByText('License of Björn Ångström saved', { exact: true }).hover();
  await expect(dialog).toHaveCount(0);
  for (const text of [
    'Björn Ångström',
    'bjorn@angstrom.example',
    'PO-4711',
    'Renew by phone.',
    'Cost center',
    'KST 815',
  ])
    await expect(inspector).toContainText(text);
  await expect(desk.getByRole('gridcell', { name: 'Björn Ångström', exact: true })).toBeVisible();

  await results.getByRole('button', { name: 'Undo' }).click();
  await expect(inspector).toContainText('Bjorn Angstrom');
  await expect(inspector).not.toContainText('PO-4711');
  await expect(inspector).not.toContainText('KST 815');
  await inspector.getByRole('tab', { name: 'Activity' }).click();
  await inspector
    .getByText(/edited the license/u)
    .first()
    .click();
  await expect(inspector.getByRole('tabpanel')).toContainText(/Cost center\s*KST 815 → –/u);
});

test(
  'a license is handed over as message, key and file',
  { tag: '@browser' },
  async ({ desk, server, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const key = await issueLicense(desk, { holder: 'O’Brien & Søns Ltd', plan: 'professional' });
    await desk.request.put('/admin/api/licenses/', {
      data: { ref: key, email: 'orders@obriensons.example' },
    });
    await desk.goto('/#/licenses?open=1');
    await desk.getByRole('complementary').getByRole('button', { name: 'Hand over' }).click();
    const dialog = desk.getByRole('dialog', { name: 'Hand over the license of O’Brien & Søns Ltd' });
    await expect(dialog).toHaveAccessibleDescription(
      /^\w+ · (?:\d+|Unlimited) seats? · until \d+ \w+ \d{4}$/u,
    );
    const message = dialog.getByRole('textbox', { name: 'Message', exact: true });
    await expect(message).toHaveValue(new RegExp(`your license for my-product is ready\\.[^]*${key}`, 'u'));
    await expect(message).toHaveValue(/Plan: professional, 5 seats/u);
    await expect(message).toHaveValue(new RegExp(new URL(server.api).origin, 'u'));
    await expectAccessible(desk);
    await dialog.getByLabel('Message language').selectOption('Deutsch');
    await expect(message).toHaveValue(/Ihre Lizenz für my-product ist bereit/u);
    const mail = (await dialog.getByRole('link', { name: 'Open in mail app' }).getAttribute('href')) ?? '';
    expect(mail).toMatch(/^mailto:orders%40obriensons\.example\?subject=Ihre%20Lizenz/u);
    expect(new URLSearchParams(mail.split('?')[1]).get('body')).toContain(key);

    // The template of each language is the administrator's own.
    await dialog.getByRole('button', { name: 'Edit template' }).click();
    await message.fill('Guten Tag {holder}, Ihr Schlüssel: {key}. {unknown}');
    await dialog.getByRole('button', { name: 'Save template' }).click();
    await expect(message).toHaveValue(`Guten Tag O’Brien & Søns Ltd, Ihr Schlüssel: ${key}. {unknown}`);
    await dialog.getByRole('button', { name: 'Copy message' }).click();
    await expect(dialog.getByRole('log', { name: 'Results' })).toContainText('Message copied');
    expect(await desk.evaluate(() => navigator.clipboard.readText())).toContain(`Ihr Schlüssel: ${key}`);
    await dialog.getByRole('button', { name: 'Edit template' }).click();
    await dialog.getByRole('button', { name: 'Reset to default' }).click();
    await expect(message).toHaveValue(/Lizenz für \{product\} ist bereit/u);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect(message).toHaveValue(/Ihre Lizenz für my-product ist bereit/u);

    await dialog.getByRole('tab', { name: 'License file' }).click();
    const downloading = desk.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Save license file' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${key}.lic`);
    expect(await readFile(await download.path(), 'utf8')).toContain('BEGIN LICENSE FILE');
  },
);

test('devices are added, replaced in one step and released, and both can be taken back', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Fjord Instruments', plan: 'standard' });
  await desk.goto('/#/licenses?open=1&tab=devices');
  const inspector = desk.getByRole('complementary', { name: 'Fjord Instruments' });
  const dialog = desk.getByRole('dialog');
  await inspector.getByRole('button', { name: 'Add device' }).click();
  await dialog.getByLabel('Device fingerprint').fill(FINGERPRINT);
  await dialog.getByLabel('Device name').fill('workstation-7');
  await dialog.getByRole('button', { name: 'Activate', exact: true }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const results = desk.getByRole('log', { name: 'Results' });
  await expect(results.getByText('workstation-7 activated')).toBeVisible();
  await results.getByRole('button', { name: 'Close' }).click();
  const devices = inspector.getByRole('listitem');
  await expect(devices).toContainText(['workstation-7']);
  await expect(devices).toContainText('4f4f4f4f…4f4f');
  await expectAccessible(desk);

  await desk.goto('/#/licenses?open=1');
  await task(desk, 'move a device of the open license', async () => {
    await inspector.getByRole('tab', { name: 'Devices' }).click();
    await devices.getByRole('button', { name: 'Replace' }).click();
    await expect(dialog).toContainText('The new device takes the seat of workstation-7');
    await dialog.getByLabel('Device fingerprint').fill(`sha256:${'5e'.repeat(32)}`);
    await dialog.getByLabel('Device name').fill('workstation-8');
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await expect(devices).toContainText(['workstation-8', 'workstation-7']);
  });
  await expect(results.getByText('replaced')).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Done' }).click();
  // The pointer keeps the result on the page.
  await results.getByText('workstation-7 replaced', { exact: true }).hover();
  await expect(devices.first()).toContainText('Not seen yet');
  await expect(devices.first()).toContainText('Replaces workstation-7');
  await expect(devices.nth(1)).toContainText('Released');
  await desk.getByRole('button', { name: 'Undo' }).click();
  await expect(devices.first()).toContainText('Replaces workstation-8');

  await devices.getByRole('button', { name: 'Release' }).click();
  await dialog.getByRole('button', { name: 'Release' }).click();
  await expect(dialog).toHaveCount(0);
  // The button that was pressed is gone; the keyboard continues in the inspector.
  await expect(desk.locator('body')).not.toBeFocused();
  await desk.getByRole('button', { name: 'Undo' }).click();
  await expect(devices).toHaveCount(4);
  await expect(devices.first()).toContainText('workstation-7');
});

test('a device that is already active stays active', async ({ desk, server }) => {
  const key = await issueLicense(desk, { holder: 'Fjord Instruments', plan: 'professional' });
  await activate(desk, server, key);
  await desk.goto('/#/licenses?open=1&tab=devices');
  const inspector = desk.getByRole('complementary', { name: 'Fjord Instruments' });
  const dialog = desk.getByRole('dialog');
  await inspector.getByRole('button', { name: 'Add device' }).click();
  await dialog.getByLabel('Device fingerprint').fill(FINGERPRINT);
  await dialog.getByRole('button', { name: 'Activate', exact: true }).click();
  await expect(dialog.getByRole('status')).toContainText('The device is active.');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const results = desk.getByRole('log', { name: 'Results' });
  // The pointer keeps the result on the page.
  await results.getByText('workstation-7 was already active', { exact: true }).hover();
  await expect(results.getByRole('button', { name: 'Undo' })).toHaveCount(0);
  await expect(inspector.getByRole('listitem')).toHaveCount(1);
});

test('a release is offered to be undone only if the device can be activated again', async ({
  desk,
  server,
}) => {
  const key = await issueLicense(desk, { holder: 'Fjord Instruments', plan: 'professional' });
  await activate(desk, server, key);
  await activate(desk, server, key, `sha256:${'5e'.repeat(32)}`);
  await post(desk, 'licenses/renew', { ref: key, expires_at: '2020-01-01T00:00:00Z', shorten: true });
  await desk.goto('/#/licenses?open=1&tab=devices');
  const inspector = desk.getByRole('complementary', { name: 'Fjord Instruments' });
  const release = inspector.getByRole('button', { name: 'Release' });
  const dialog = desk.getByRole('dialog', { name: 'Release workstation-7?' });
  const results = desk.getByRole('log', { name: 'Results' });
  const releaseFirst = async (consequence: string) => {
    await release.first().click();
    await expect(dialog).toContainText(consequence);
    await expect(dialog).not.toContainText('You can activate it again.');
    await dialog.getByRole('button', { name: 'Release' }).click();
    // The pointer keeps the result on the page.
    await results.getByText('workstation-7 released', { exact: true }).hover();
    await expect(results.getByRole('button', { name: 'Undo' })).toHaveCount(0);
    await results.getByRole('button', { name: 'Close' }).click();
  };
  await releaseFirst('It can be activated again after the license is renewed.');
  await expect(release).toHaveCount(1);
  await post(desk, 'licenses/revoke', { ref: key });
  await expect(inspector).toContainText('Revoked');
  await releaseFirst('It cannot be activated again on a revoked license.');
  await expect(release).toHaveCount(0);
});

test('a renewal shows both dates before it is confirmed, and can be taken back', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', expires_at: '2040-03-01T12:00:00Z' });
  await desk.goto('/#/licenses?open=1');
  const inspector = desk.getByRole('complementary', { name: 'Acme' });
  const dialog = desk.getByRole('dialog');
  await inspector.getByRole('button', { name: 'Renew' }).click();
  await dialog.getByLabel('Extend').selectOption('By a number of days');
  await dialog.getByLabel('Days').fill('31');
  await expect(dialog).toContainText(/1 Mar 2040\s*New value\s*1 Apr 2040/u);
  await expectAccessible(desk);
  await dialog.getByRole('button', { name: 'Renew' }).click();
  await expect(inspector.getByText('1 Apr 2040').first()).toBeVisible();
  await desk.getByRole('button', { name: 'Undo' }).click();
  await expect(inspector.getByText('1 Mar 2040').first()).toBeVisible();

  await chooseAction(inspector, 'Upgrade');
  await expect(dialog).toContainText(/standard\s*New value\s*professional/u);
  await expectAccessible(desk);
});
