import { execFile } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { expect, expectBriefly, importLicenses, issueLicense, test } from './test.ts';

const DAY_MS = 86_400_000;
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const attention = (page: Page) => panel(page, 'Needs attention');
const health = (page: Page, part: string) =>
  panel(page, 'Health').getByRole('listitem').filter({ hasText: part });

async function revoke(page: Page, licenseKey: string): Promise<void> {
  const response = await page.request.post('/admin/api/licenses/revoke/', { data: { ref: licenseKey } });
  expect(response.ok(), await response.text()).toBe(true);
}

test('is calm while all is well', async ({ desk }) => {
  await expect(attention(desk).getByRole('status')).toHaveText('All systems normal');
  for (const part of ['API', 'Database', 'Storage', 'Jobs']) {
    await expect(health(desk, part)).toHaveText(`${part}: Running`);
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
  await expect(health(desk, 'Jobs')).toHaveText('Jobs: Failing');
  await expect(health(desk, 'Database')).toHaveText('Database: Running');
  await expect(attention(desk)).toContainText('Background jobs are not running');
  await desk.unroute('**/admin/api/health/');
  await expect(health(desk, 'Jobs')).toHaveText('Jobs: Running');
  await expect(attention(desk)).toContainText('All systems normal');
});

test('alerts while the data directory is missing @browser', async ({ desk, server }) => {
  renameSync(server.dataDir, `${server.dataDir}-away`);
  await expect(attention(desk)).toContainText(
    `${server.dataDir} was removed or replaced. Changes are refused.`,
  );
  await expect(health(desk, 'Storage')).toHaveText('Storage: Failing');
  await expect(health(desk, 'Database')).toHaveText('Database: Failing');
  renameSync(`${server.dataDir}-away`, server.dataDir);
  await expect(attention(desk)).toContainText('All systems normal');
  await expect(health(desk, 'Storage')).toHaveText('Storage: Running');
});

test('tells how old the CRL is', async ({ desk, server }) => {
  await issueLicense(desk, { holder: 'Acme' });
  const data = { license_id: 1, common_name: 'workstation' };
  expect((await desk.request.post('/admin/api/certs/generate/', { data })).ok()).toBe(true);
  // Without a request for it, the first CRL may take five minutes.
  const canFetchCrl = async () => (await desk.request.get(`${server.api}certs/crl/`)).ok();
  await expect.poll(canFetchCrl).toBe(true);
  const age = panel(desk, 'Health').locator('time');
  await expect(panel(desk, 'Health')).toContainText(/CRL updated (?:now|\d+ seconds? ago)/u);
  const builtAt = async () => Date.parse((await age.getAttribute('datetime')) ?? '');
  const before = await builtAt();
  const revoked = await desk.request.post('/admin/api/certs/revoke/', {
    data: { id: 1, reason: 'superseded' },
  });
  expect(revoked.ok(), await revoked.text()).toBe(true);
  await expect.poll(builtAt).toBeGreaterThan(before);
  await expect(panel(desk, 'Health')).toContainText(/CRL updated (?:now|\d+ seconds? ago)/u);
});

test('tells of one imported license, and of several', { tag: '@browser' }, async ({ desk }) => {
  await importLicenses(desk, ['Acme']);
  await expect(panel(desk, 'Activity')).toContainText('imported 1 license');
  await expect(panel(desk, 'Activity')).not.toContainText('imported 1 licenses');
  await importLicenses(desk, ['Bolt', 'Cargo']);
  await expect(panel(desk, 'Activity')).toContainText('imported 2 licenses');
});

test('copies the API address', async ({ desk, server, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const copy = desk.getByRole('button', { name: 'Copy: API address' });
  await expectBriefly(panel(desk, 'API address').getByRole('status'), 'Copied', () => copy.click());
  const copied = await desk.evaluate(() => navigator.clipboard.readText());
  expect(`${copied.replace(/\/$/u, '')}/`).toBe(server.api);
});

test('leads from an empty installation to the first license', async ({ desk }) => {
  await expect(desk.getByText('No licenses yet')).toBeVisible();
  await desk.getByRole('link', { name: 'Issue your first license' }).click();
  await expect(desk.getByRole('dialog', { name: 'New license' })).toBeVisible();
  // A reload does not open the dialog again.
  await expect(desk).toHaveURL(/#\/licenses$/u);
});

test('lists as many expiring licenses as it counts, and none that are revoked', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme', plan: 'professional' });
  await issueLicense(desk, { holder: 'Late', expires_at: new Date(Date.now() - DAY_MS).toISOString() });
  await issueLicense(desk, { holder: 'Soon', days: 3 });
  await issueLicense(desk, { holder: 'Sooner', days: 2 });
  await issueLicense(desk, { holder: 'Next month', days: 25 });
  await revoke(desk, await issueLicense(desk, { holder: 'Gone', days: 1 }));
  await desk.reload();

  await expect(attention(desk)).toContainText('2 licenses expire within 7 days 1 more within 30 days');
  const expiring = panel(desk, 'Expiring licenses');
  await expect(expiring.getByRole('listitem')).toContainText(['Sooner', 'Soon', 'Next month']);
  await expectAccessible(desk);

  await expiring.getByRole('link', { name: 'View all 3' }).click();
  const rows = desk.getByRole('grid').getByRole('row');
  await expect(rows).toHaveCount(4);
  await expect(rows.nth(1)).toContainText('Sooner');
  await desk.goBack();
  await attention(desk).getByRole('link', { name: 'Review licenses' }).click();
  await expect(rows).toHaveCount(3);
});

test('opens an expiring license in the list that it came from', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Long gone', expires_at: '2020-01-01T00:00:00Z' });
  await issueLicense(desk, { holder: 'First', days: 3 });
  await issueLicense(desk, { holder: 'Second', days: 9 });
  await desk.reload();
  await panel(desk, 'Expiring licenses').getByRole('link', { name: 'First' }).click();
  await expect(desk.getByRole('complementary', { name: 'First' })).toBeVisible();
  await expect(desk.getByRole('grid').getByRole('row').nth(1)).toContainText('First');
  await desk.getByRole('button', { name: 'Next record' }).click();
  await expect(desk.getByRole('complementary', { name: 'Second' })).toBeVisible();
  await expect(desk.getByRole('gridcell', { name: 'Long gone' })).toHaveCount(0);
});

test('renews an expiring license in place', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Emma Brontë', days: 3 });
  await desk.reload();
  await desk.getByRole('button', { name: 'Renew the license of Emma Brontë' }).click();
  const dialog = desk.getByRole('dialog', { name: /Emma Brontë/u });
  await dialog.getByRole('button', { name: 'Renew' }).click();
  await expect(dialog).toBeHidden();
  await expect(panel(desk, 'Expiring licenses')).toContainText('No license expires within 30 days.');
  await expect(panel(desk, 'Activity').getByRole('listitem').first()).toContainText(
    /renewed Emma Brontë until \d+ \w+ \d{4}/u,
  );
});

test('a renewal starts from the license as it is by then, and is undone to that', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme', days: 3 });
  await desk.reload();
  await desk.getByRole('button', { name: 'Renew the license of Acme' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Renew the license of Acme' });
  await expect(dialog).toContainText('(in 3 days)');
  const expiresAt = '2040-03-01T12:00:00.000Z';
  const renewed = await desk.request.post('/admin/api/licenses/renew/', {
    data: { ref: key, expires_at: expiresAt },
  });
  expect(renewed.ok(), await renewed.text()).toBe(true);
  await dialog.getByLabel('Extend').selectOption('By a number of days');
  await dialog.getByLabel('Days').fill('31');
  await expect(dialog).toContainText(/1 Mar 2040\s*New value\s*1 Apr 2040/u);
  await dialog.getByRole('button', { name: 'Renew' }).click();
  const results = desk.getByRole('log', { name: 'Results' });
  // The pointer keeps the result on the page.
  await results.getByText('License of Acme renewed until 1 Apr 2040', { exact: true }).hover();
  await results.getByRole('button', { name: 'Undo' }).click();
  const expiry = async () => {
    const shown = await desk.request.get(`/admin/api/licenses/show/?ref=${key}`);
    return ((await shown.json()) as { license: { expires_at: string } }).license.expires_at;
  };
  await expect.poll(expiry).toBe(expiresAt);
});

test('Undo of a renewal keeps a renewal from elsewhere', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme', days: 3 });
  await desk.reload();
  await desk.getByRole('button', { name: 'Renew the license of Acme' }).click();
  await desk.getByRole('dialog').getByRole('button', { name: 'Renew' }).click();
  const results = desk.getByRole('log', { name: 'Results' });
  // The pointer keeps the result on the page.
  await results.getByText(/^License of Acme renewed until/u).hover();
  const expiresAt = '2040-03-01T12:00:00.000Z';
  const renewed = await desk.request.post('/admin/api/licenses/renew/', {
    data: { ref: key, expires_at: expiresAt },
  });
  expect(renewed.ok(), await renewed.text()).toBe(true);
  await results.getByRole('button', { name: 'Undo' }).click();
  await expect(results).toContainText('Could not undo: the expiry date was changed meanwhile; ');
  const shown = await desk.request.get(`/admin/api/licenses/show/?ref=${key}`);
  expect(await shown.json()).toMatchObject({ license: { expires_at: expiresAt } });
});

test('tells what happened in sentences, and leads to it', async ({ desk, server }) => {
  const licenseKey = await issueLicense(desk, { holder: 'Ústav soudního lékařství', plan: 'enterprise' });
  await fetch(`${server.api}activate/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      license_key: licenseKey,
      machine_fingerprint: `sha256:${'1'.padStart(64, '0')}`,
      machine_name: 'LAB-WS-014',
    }),
  });
  await revoke(desk, licenseKey);
  const sentences = panel(desk, 'Activity').getByRole('listitem');
  await expect(sentences.nth(0)).toContainText(/\w+ revoked Ústav soudního lékařství/u);
  await expect(sentences.nth(1)).toContainText('LAB-WS-014 was activated for Ústav soudního lékařství');
  await expect(sentences.nth(2)).toContainText(/\w+ issued a license to Ústav soudního lékařství/u);
  await sentences.nth(0).getByRole('link', { name: 'Ústav soudního lékařství' }).click();
  await expect(desk.getByRole('complementary', { name: 'Ústav soudního lékařství' })).toBeVisible();
});

test('shows a shell command that activates the first device', async ({ desk, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await issueLicense(desk, { holder: 'Acme “Quoted” & Söhne' });
  await desk.reload();
  const command = panel(desk, 'Activate from the command line');
  await expect(command).toContainText(
    'the license of Acme “Quoted” & Söhne, the newest license without an activation',
  );
  const copy = command.getByRole('button', { name: 'Copy: Activate from the command line' });
  await expectBriefly(copy, 'Copied', () => copy.click());
  const line = await desk.evaluate(() => navigator.clipboard.readText());

  const { stdout } = await promisify(execFile)('sh', ['-c', line.replace(/^curl /u, 'curl -s ')]);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, license: { state: 'active', activation_count: 1 } });
  // Live updates refresh the screen.
  await expect(panel(desk, 'Active licenses')).toContainText('Active licenses1Up +1 vs previous 28 days');
  await expect(panel(desk, 'Activations')).toContainText('Activations1Up +1');
  await expect(panel(desk, 'Denied')).toContainText('Denied0Even No change');
  await expect(command).toBeHidden();
});

test('shows a shell command that checks out a seat of a floating license', async ({ desk, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const made = await desk.request.post('/admin/api/plans/', {
    data: { name: 'pool', licensing: 'floating', seats: 2, count_by: 'device' },
  });
  expect(made.ok(), await made.text()).toBe(true);
  await issueLicense(desk, { holder: 'Acme', plan: 'pool' });
  await desk.reload();
  const command = panel(desk, 'Check out a seat from the command line');
  await expect(command).toContainText('Checks out a seat of the license of Acme');
  await expectAccessible(desk);
  const copy = command.getByRole('button', { name: 'Copy: Check out a seat from the command line' });
  await expectBriefly(copy, 'Copied', () => copy.click());
  const line = await desk.evaluate(() => navigator.clipboard.readText());
  const { stdout } = await promisify(execFile)('sh', ['-c', line]);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, pool: { in_use: 1 } });
});

test('charts a figure over a period, as a table and as CSV too', { tag: '@browser' }, async ({ desk }) => {
  const usage = panel(desk, 'Usage per day');
  await usage.getByRole('button', { name: 'Activations' }).click();
  await expect(usage.getByRole('img', { name: /^Activations in 28 days: 0\./u })).toBeVisible();
  await usage.getByRole('button', { name: '91 d' }).click();
  await expect(usage.getByRole('img', { name: /^Activations in 91 days: 0\./u })).toBeVisible();
  await usage.getByRole('button', { name: '7 d' }).click();
  await usage.getByRole('button', { name: 'Show as table' }).click();
  const today = new Date().toISOString().slice(0, 10);
  await expect(usage.getByRole('row')).toHaveCount(8);
  await expect(usage.getByRole('row').last()).toHaveText(`${today}00`);
  // Tooltips belong to no landmark.
  await desk.mouse.move(0, 0);
  await expect(desk.getByRole('tooltip')).toHaveCount(0);
  await expectAccessible(desk);
  const downloading = desk.waitForEvent('download');
  await usage.getByRole('button', { name: 'Download CSV' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(new RegExp(`^activations-.*-${today}\\.csv$`, 'u'));
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split(/\r?\n/u);
  expect(lines[0]).toBe('day,activations,previous_day,previous_activations');
  expect(lines).toHaveLength(8);
  expect(lines.at(-1)).toMatch(new RegExp(`^${today},0,`, 'u'));
});

test('loads its figures once, then follows live updates', async ({ desk }) => {
  let asked: string[] = [];
  desk.on('request', (request) => asked.push(new URL(request.url()).pathname));
  let tries = 0;
  // A page that is greeted late asks again, as it should if something has just changed.
  await expect(async () => {
    asked = [];
    tries += 1;
    await desk.reload();
    await expect(panel(desk, 'Health')).toContainText(/Uptime: \d+ seconds?/u);
    await expect(panel(desk, 'Activity')).toBeVisible();
    await issueLicense(desk, { holder: `Later ${tries}` });
    await expect(panel(desk, 'Activity')).toContainText(`issued a license to Later ${tries}`);
    for (const path of ['/admin/api/overview/', '/admin/api/overview/trend/'])
      expect(asked.filter((other) => other === path)).toHaveLength(2);
  }).toPass({ intervals: [5000], timeout: 60_000 });
});

test('shows changes that happened before the live stream opened', async ({ desk }) => {
  const begin = Promise.withResolvers<void>();
  await desk.route('**/admin/api/live/', async (route) => {
    await begin.promise;
    await route.continue();
  });
  await desk.reload();
  await expect(desk.getByText('No licenses yet')).toBeVisible();
  await issueLicense(desk, { holder: 'Missed' });
  begin.resolve();
  await expect(panel(desk, 'Activity')).toContainText('issued a license to Missed');
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

  await expect(attention(desk)).toContainText(
    /License \w{5}-…-\w{5} \(Leaked Key Ltd\) activated \d{3} devices/u,
  );
  await expect(attention(desk)).not.toContainText(licenseKey);
  await attention(desk).getByRole('link', { name: 'Open license' }).click();
  await expect(desk.getByRole('complementary', { name: 'Leaked Key Ltd' })).toBeVisible();
});

test('a license is checked from the overview', { tag: '@browser' }, async ({ desk }) => {
  await importLicenses(desk, ['Acme', 'Fjord Instruments']);
  await desk.getByRole('button', { name: 'Check a license' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Check a license' });
  const search = dialog.getByRole('combobox', { name: 'License' });
  await expect(search).toBeFocused();
  await search.fill('Fjord');
  await expectAccessible(desk);
  await dialog.getByRole('option', { name: 'Fjord Instruments' }).click();
  const inspector = desk.getByRole('complementary', { name: 'Fjord Instruments' });
  await expect(inspector.getByRole('tab', { name: 'Diagnostics' })).toHaveAttribute('aria-selected', 'true');
  await expect(dialog).toHaveCount(0);
});
