// The values that a check compares are shown in the language of the page: dates, devices, limits, answers and states.
import type { Locator, Page } from '@playwright/test';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import { expect, issueLicense, test } from './test.ts';

const FINGERPRINT = `sha256:${'5c'.repeat(32)}`;
const OTHER_FINGERPRINT = `sha256:${'0d'.repeat(32)}`;

type Values = Record<string, string>;

async function post(page: Page, path: string, data: object): Promise<unknown> {
  const response = await page.request.post(`/admin/api/${path}/`, { data });
  expect(response.ok(), await response.text()).toBe(true);
  return response.json();
}

/** Activates a device and gives back its license file. */
async function activate(page: Page, licenseKey: string): Promise<string> {
  const about = { licenseKey, fingerprint: FINGERPRINT, nonce: 'n-1', issuedAt: Date.now() };
  const request = formatMachineRequest(about, 'file');
  const reply = await post(page, 'offline/activate', { request });
  return (reply as { license_file: string }).license_file;
}

const inspectorOf = (page: Page, holder: string) => page.getByRole('complementary', { name: holder });

const valueOf = (within: Locator, name: string) =>
  within
    .locator('dl > div')
    .filter({ has: within.page().getByText(name, { exact: true }) })
    .getByRole('definition');

async function expectValues(within: Locator, values: Values): Promise<void> {
  for (const [name, value] of Object.entries(values))
    await expect(valueOf(within, name), name).toHaveText(value);
}

/** @param within where the values are, on a page that was in English before */
async function expectInBothLanguages(within: Locator, english: Values, german: Values): Promise<void> {
  await expectValues(within, english);
  await within.page().getByLabel('Language').selectOption('Deutsch');
  await expectValues(within, german);
  await within.page().getByLabel('Sprache').selectOption('English');
}

test('of an authorization: dates, the device, unlimited seats, and whether it is activated', async ({
  desk,
}) => {
  await post(desk, 'plans', { name: 'site', max_activations: null });
  const expires_at = '2040-03-01T12:34:56Z';
  await activate(desk, await issueLicense(desk, { holder: 'Acme', plan: 'site', expires_at }));
  await desk.goto('/#/licenses?open=1&tab=explain');
  const inspector = inspectorOf(desk, 'Acme');
  const checks = inspector.locator('ol');
  await inspector.getByLabel('Device fingerprint').fill(FINGERPRINT);
  await inspector.getByRole('button', { name: 'Check', exact: true }).click();
  await expectInBothLanguages(
    checks,
    {
      Expires: '1 Mar 2040, 12:34',
      Revoked: '–',
      Device: FINGERPRINT,
      Activated: 'Yes',
      'Seats in use': '1',
      Seats: 'Unlimited',
    },
    {
      'Läuft ab': '1. März 2040, 12:34',
      Widerrufen: '–',
      Gerät: FINGERPRINT,
      Aktiviert: 'Ja',
      'Belegte Plätze': '1',
      Plätze: 'Unbegrenzt',
    },
  );
  // The date has its exact time, and the fingerprint is set as code.
  await expect(valueOf(checks, 'Expires').getByRole('time')).toHaveAttribute(
    'title',
    '2040-03-01 12:34:56 UTC',
  );
  await expect(valueOf(checks, 'Device').getByRole('code')).toHaveText(FINGERPRINT);

  await inspector.getByLabel('Device fingerprint').fill(OTHER_FINGERPRINT);
  await inspector.getByRole('button', { name: 'Check', exact: true }).click();
  await expectInBothLanguages(checks, { Activated: 'No' }, { Aktiviert: 'Nein' });
});

test('of a checkout: the licensing, unlimited seats, and counts', async ({ desk }) => {
  await post(desk, 'plans', { name: 'pool', licensing: 'floating', seats: null, overdraft_seats: 1500 });
  await issueLicense(desk, { holder: 'Acme', plan: 'pool' });
  await desk.goto('/#/licenses?open=1&tab=explain');
  const checkout = inspectorOf(desk, 'Acme').getByRole('region', { name: 'Checkout' });
  await checkout.getByRole('button', { name: 'Check', exact: true }).click();
  // Its name is in the language of the page.
  await expectInBothLanguages(
    inspectorOf(desk, 'Acme').locator('ol'),
    { Licensing: 'Floating', Seats: 'Unlimited', 'Overdraft seats': '1,500', User: '–' },
    {
      Lizenzierung: 'Floating-Lizenz',
      Plätze: 'Unbegrenzt',
      'Plätze zum Überziehen': '1.500',
      Benutzer: '–',
    },
  );
});

test('of a license file: the state of the license when it was signed', async ({ desk }) => {
  const file = await activate(desk, await issueLicense(desk, { holder: 'Acme' }));
  await desk.goto('/#/air-gap?view=check');
  await desk.getByRole('textbox', { name: 'License file' }).fill(file);
  await desk.getByRole('button', { name: 'Check', exact: true }).click();
  await expectInBothLanguages(
    desk.locator('tbody'),
    { State: 'Active', 'Bound to device': FINGERPRINT, Holder: 'Acme' },
    { Status: 'Aktiv', 'An Gerät gebunden': FINGERPRINT, Inhaber: 'Acme' },
  );
});
