import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { addFakeShell, refuseInShell } from './fake-shell.ts';
import { textsPerPage } from './pdf-pages.ts';
import { alertWith, chooseAction, expect, issueLicense, test } from './test.ts';

const DEVICES = 120;

const fingerprintOf = (device: number) => `sha256:${device.toString(16).padStart(64, '0')}`;

async function issueWithDevices(page: Page, api: string): Promise<string> {
  const plan = { name: 'site', display_name: 'Site', tier: 50, duration_days: 365, max_activations: 500 };
  const made = await page.request.post('/admin/api/plans/', { data: { ...plan, features: ['reports'] } });
  expect(made.ok(), await made.text()).toBe(true);
  const key = await issueLicense(page, {
    holder: 'Ústav soudního lékařství',
    plan: 'site',
    notes: 'Pays late.',
  });
  for (let device = 1; device <= DEVICES; device += 1) {
    const activated = await fetch(`${api}activate/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        license_key: key,
        machine_fingerprint: fingerprintOf(device),
        machine_name: `workstation-${device}`,
      }),
    });
    expect(activated.status).toBe(200);
  }
  return key;
}

test('a license is printed with all its devices', { tag: '@browser' }, async ({ desk, server }) => {
  const key = await issueWithDevices(desk, server.api);
  await desk.goto('/#/licenses?search=st&open=1');
  await chooseAction(desk.getByRole('complementary'), 'Print or save as PDF');
  await expect(desk).toHaveURL(/#\/licenses\/print\?license=1$/u);
  await expect(desk.getByRole('navigation')).toHaveCount(0);
  const sheet = desk.getByRole('article');
  await expect(sheet.getByRole('heading', { name: `License ${key}` })).toBeVisible();
  await expect(sheet).toContainText('Ústav soudního lékařství');
  await expect(sheet.locator('tbody tr')).toHaveCount(DEVICES);
  for (const device of [1, DEVICES]) await expect(sheet).toContainText(fingerprintOf(device));
  // The holder must not see them.
  await expect(sheet).not.toContainText('Pays late.');
  await expectAccessible(desk);

  const pdf = await desk.pdf({ preferCSSPageSize: true, printBackground: true });
  expect(textsPerPage(pdf).length).toBeGreaterThan(3);
  expect(pdf.toString('latin1')).toContain('/MediaBox [0 0 594.95996 841.91998]');
  await desk.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(desk.getByRole('button')).toHaveCount(0);
  expect(await sheet.evaluate((element) => getComputedStyle(element).color)).toBe('rgb(20, 23, 31)');
  await desk.emulateMedia({ media: null, colorScheme: null });

  // The sheet stays current until it is printed.
  await server.cli('license', 'revoke', key, '--reason', 'chargeback');
  await expect(sheet).toContainText('Revoked');
  await expect(sheet).toContainText('chargeback');
  await desk.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed-as', document.title);
  });
  await desk.getByRole('button', { name: 'Print', exact: true }).click();
  await expect(desk.locator('body')).toHaveAttribute('data-printed-as', `license-${key}`);
  await expect(desk).toHaveTitle('License printout · License Desk');
  await desk.getByRole('button', { name: 'Back' }).click();
  await expect(desk).toHaveURL(/#\/licenses\?search=st&open=1$/u);
  await expect(desk.getByRole('complementary', { name: 'Ústav soudního lékařství' })).toBeVisible();
});

test('prints only a complete sheet, and saves a PDF in the app', { tag: '@browser' }, async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  await addFakeShell(desk);
  await desk.goto('/#/licenses/print?license=99');
  await desk.reload();
  const save = desk.getByRole('button', { name: 'Save as PDF' });
  await expect(alertWith(desk, 'license')).toBeVisible();
  await expect(alertWith(desk, 'Request ID')).toBeVisible();
  await expect(save).toBeDisabled();

  // The second page of devices fails once.
  const device = (id: number) => ({
    id,
    machine_fingerprint: fingerprintOf(id),
    machine_name: null,
    platform: 'linux-x64',
    app_version: '4.2.0',
    activated_at: '2026-11-20T09:48:00Z',
    released_at: id === 2 ? '2026-11-20T10:00:00Z' : null,
  });
  let isUp = false;
  await desk.route('**/admin/api/licenses/devices/**', (route) => {
    const isSecond = new URL(route.request().url()).searchParams.has('cursor');
    if (isSecond && !isUp) return route.abort();
    const items = [device(isSecond ? 2 : 1)];
    return route.fulfill({ json: { ok: true, items, next_cursor: isSecond ? null : 'second' } });
  });
  await desk.goto(`/#/licenses/print?license=${key}`);
  const sheet = desk.getByRole('article');
  await expect(sheet).toContainText('Acme');
  await expect(sheet).toContainText('The device list is missing because it was still loading.');
  await expect(alertWith(desk, 'The server did not respond.')).toBeVisible();
  await expect(save).toBeDisabled();
  isUp = true;
  await desk.getByRole('button', { name: 'Try again' }).click();
  await expect(sheet.locator('tbody tr')).toHaveCount(2);
  await expect(sheet.locator('tbody tr').last()).toContainText('Released2026-11-20 10:00:00 UTC');

  await refuseInShell(desk, 'ENOSPC: no space left on device');
  await save.click();
  await expect(alertWith(desk, 'Could not save the PDF: ENOSPC: no space left on device')).toBeVisible();
  await expectAccessible(desk);
  await refuseInShell(desk, '');
  await save.click();
  await expect(desk.getByRole('status')).toHaveText('Saved.');
  await expect(desk.getByRole('alert')).toHaveCount(0);
  expect(await desk.evaluate(() => window.fakeShell.saved)).toEqual([`license-${key}.pdf`]);
});
