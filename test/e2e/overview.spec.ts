import { execFile } from 'node:child_process';
import { renameSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, issueLicense, test } from './test.ts';

const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
/** The value of a row in a panel. */
const figure = (page: Page, panelName: string, name: string) =>
  panel(page, panelName)
    .locator('dl > div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator('dd');

test('shows the health of all parts in words', async ({ desk }) => {
  for (const part of ['API', 'Database', 'Storage', 'Jobs']) {
    await expect(figure(desk, 'Health', part)).toHaveText('Running');
  }
  await expect(panel(desk, 'Health')).toContainText(/Uptime: \d+ seconds?/u);
});

test('shows which part fails', async ({ desk }) => {
  await desk.route('**/admin/api/health/', (route) =>
    route.fulfill({
      status: 503,
      json: {
        ok: false,
        error_code: 'unavailable',
        message: 'failing: jobs',
        details: [{ path: 'checks.jobs', message: 'failing' }],
      },
    }),
  );
  await expect(figure(desk, 'Health', 'Jobs')).toHaveText('Failing');
  await expect(figure(desk, 'Health', 'Database')).toHaveText('Running');
  await desk.unroute('**/admin/api/health/');
  await expect(figure(desk, 'Health', 'Jobs')).toHaveText('Running');
});

test('alerts while the data directory is missing @browser', async ({ desk, server }) => {
  renameSync(server.dataDir, `${server.dataDir}-away`);
  const attention = panel(desk, 'Needs attention');
  await expect(attention).toContainText(`${server.dataDir} was removed or replaced. Changes are refused.`);
  await expect(figure(desk, 'Health', 'Storage')).toHaveText('Failing', { timeout: 20_000 });
  await expect(figure(desk, 'Health', 'Database')).toHaveText('Failing');
  renameSync(`${server.dataDir}-away`, server.dataDir);
  await expect(attention).toBeHidden();
  await expect(figure(desk, 'Health', 'Storage')).toHaveText('Running', { timeout: 20_000 });
});

test('copies the API address', async ({ desk, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await desk.getByRole('button', { name: 'Copy: API address' }).click();
  await expect(panel(desk, 'API address').getByRole('button')).toHaveText('Copied');
  const copied = await desk.evaluate(() => navigator.clipboard.readText());
  expect(`${copied.replace(/\/$/u, '')}/`).toBe(server.api);
});

test('leads from an empty installation to the first license', async ({ desk }) => {
  await expect(desk.getByText('No licenses yet.')).toBeVisible();
  await desk.getByRole('link', { name: 'Issue your first license' }).click();
  await expect(desk.getByRole('dialog', { name: 'New license' })).toBeVisible();
  // A reload does not open the dialog again.
  expect(desk.url()).toMatch(/#\/licenses$/u);
});

test('counts licenses and links to those that expire soon', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', plan: 'professional' });
  await issueLicense(desk, { holder: 'Late', expires_at: new Date(Date.now() - 86_400_000).toISOString() });
  await issueLicense(desk, { holder: 'Soon', days: 3 });
  await desk.reload();
  await expect(figure(desk, 'Licenses', 'Issued')).toHaveText('1');
  await expect(figure(desk, 'Licenses', 'In grace')).toHaveText('1');
  await expect(figure(desk, 'Licenses', 'Revoked')).toHaveText('0');
  await expect(panel(desk, 'Licenses')).toContainText('3 in total');
  await expect(figure(desk, 'Expiring licenses', 'Within 7 days')).toHaveText('1');
  await expect(figure(desk, 'Health', 'Failed events')).toHaveText('None');
  await expect(figure(desk, 'Health', 'CRL')).toHaveText('Not in use');
  await expect(
    panel(desk, 'Next to expire').getByRole('row', { name: /^Soon standard Expiring/u }),
  ).toBeVisible();
  await expect(panel(desk, 'Recent activity').getByRole('link', { name: 'license.created' })).toHaveCount(3);
  await expectAccessible(desk);

  await figure(desk, 'Licenses', 'In grace').getByRole('link').click();
  await expect(desk.getByRole('gridcell', { name: 'Late', exact: true })).toBeVisible();
  await expect(desk.getByRole('gridcell', { name: 'Acme', exact: true })).toHaveCount(0);
  await desk.goBack();
  await figure(desk, 'Expiring licenses', 'Within 90 days').getByRole('link').click();
  await expect(desk.getByRole('gridcell', { name: 'Soon', exact: true })).toBeVisible();
  await expect(desk.getByRole('gridcell', { name: 'Acme', exact: true })).toHaveCount(0);
});

test('shows a shell command that activates a device', async ({ desk, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await issueLicense(desk, { holder: 'Acme “Quoted” & Söhne' });
  await desk.reload();
  await expect(panel(desk, 'Activate from the command line')).toContainText(
    'the license of Acme “Quoted” & Söhne, the newest license without an activation',
  );
  await desk.getByRole('button', { name: 'Copy: Activate from the command line' }).click();
  await expect(panel(desk, 'Activate from the command line').getByRole('button')).toHaveText('Copied');
  const line = await desk.evaluate(() => navigator.clipboard.readText());

  const { stdout } = await promisify(execFile)('sh', ['-c', line.replace(/^curl /u, 'curl -s ')]);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, license: { state: 'active', activation_count: 1 } });
  // Live updates refresh the screen.
  await expect(figure(desk, 'Licenses', 'Active')).toHaveText('1');
  const perDay = panel(desk, 'Activations per day');
  await expect(perDay).toContainText('1 in 30 days');
  await perDay.getByRole('button', { name: 'Show as table' }).click();
  await expect(perDay.getByRole('row').last()).toHaveText(`${new Date().toISOString().slice(0, 10)}1`);
  await expect(panel(desk, 'Activate from the command line')).toContainText(
    'Replace LICENSE-KEY with a license key',
  );
});

test('loads its figures once, then follows live updates', async ({ desk }) => {
  const asked: string[] = [];
  desk.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await desk.reload();
  await expect(panel(desk, 'Health')).toContainText(/Uptime: \d+ seconds?/u);
  await expect(desk.getByText('No licenses yet.')).toBeVisible();
  await issueLicense(desk, { holder: 'Later' });
  await expect(panel(desk, 'Licenses')).toContainText('1 in total');
  expect(asked.filter((path) => path === '/admin/api/overview/')).toHaveLength(2);
});

test('shows changes that happened before the live stream opened', async ({ desk }) => {
  const begin = Promise.withResolvers<void>();
  await desk.route('**/admin/api/live/', async (route) => {
    await begin.promise;
    await route.continue();
  });
  await desk.reload();
  await expect(desk.getByText('No licenses yet.')).toBeVisible();
  await issueLicense(desk, { holder: 'Missed' });
  begin.resolve();
  await expect(panel(desk, 'Licenses')).toContainText('1 in total');
});

test('alerts about a license with a surge of devices, and opens it', async ({ desk, server }) => {
  const licenseKey = await issueLicense(desk, { holder: 'Leaked Key Ltd', plan: 'enterprise' });
  const activate = async (device: number) => {
    const machine_fingerprint = `sha256:${device.toString(16).padStart(64, '0')}`;
    const body = JSON.stringify({ license_key: licenseKey, machine_fingerprint });
    const headers = { 'content-type': 'application/json' };
    return fetch(`${server.api}activate/`, { method: 'POST', headers, body });
  };
  await Promise.all(Array.from({ length: 110 }, (_, device) => activate(device)));

  const alerts = panel(desk, 'Needs attention');
  await expect(alerts).toContainText(/License \w{5}-…-\w{5} \(Leaked Key Ltd\) activated \d{3} devices/u);
  await expect(alerts).not.toContainText(licenseKey);
  await alerts.getByRole('link', { name: 'Open license' }).click();
  await expect(desk.getByRole('complementary', { name: 'Leaked Key Ltd' })).toBeVisible();
});
