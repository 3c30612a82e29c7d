// Restores from the back office, with two administrators, and on a slow server.
import type { Page } from '@playwright/test';
import { gate } from './gate.ts';
import { expect, test } from './test.ts';

const PASSPHRASE = 'correct horse battery staple moon';

const panelOn = (desk: Page) => desk.getByRole('region', { name: 'Restore a backup' });
const previewOn = (desk: Page) => desk.getByRole('dialog', { name: 'Restore this backup?' });

/** On the settings' backup tab. */
async function showPreviewOf(buffer: Buffer, desk: Page): Promise<void> {
  const file = { name: 'desk.ldbackup', mimeType: 'application/octet-stream', buffer };
  await panelOn(desk).locator('input[type=file]').setInputFiles(file);
  await panelOn(desk).getByLabel('Passphrase of the backup').fill(PASSPHRASE);
  await panelOn(desk).getByRole('button', { name: 'Preview restore' }).click();
}

test('closing a preview leaves what is confirmed in place', { tag: '@browser' }, async ({ desk }) => {
  const backup = await desk.request.post('/admin/api/backup/', { data: { passphrase: PASSPHRASE } });
  expect(backup.ok()).toBe(true);
  const buffer = await backup.body();
  await desk.goto('/#/settings?tab=backup');
  const restore = panelOn(desk);
  const dialog = previewOn(desk);
  const showPreview = async () => {
    await showPreviewOf(buffer, desk);
    await expect(dialog).toBeVisible();
  };
  const staged = restore.getByRole('status');

  // Another administrator previews and confirms meanwhile.
  await showPreview();
  const data = { kind: 'upload', passphrase: PASSPHRASE };
  const other = await desk.request.post('/admin/api/backup/restore/preview/', { data });
  const { restore_id } = (await other.json()) as { restore_id: string };
  const confirmed = await desk.request.post('/admin/api/backup/restore/confirm/', { data: { restore_id } });
  expect(confirmed.ok(), await confirmed.text()).toBe(true);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(staged).toContainText('stop the server where it was started');
  await restore.getByRole('button', { name: 'Cancel restore' }).click();

  // A confirmation that is on its way cannot be canceled.
  await showPreview();
  const [asked, released] = [gate(), gate()];
  await desk.route('**/backup/restore/confirm/', async (route) => {
    asked.open();
    await released.isOpen;
    await route.continue();
  });
  await dialog.getByRole('button', { name: 'Restore at next start' }).click();
  await asked.isOpen;
  await desk.keyboard.press('Escape');
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeDisabled();
  released.open();
  await expect(dialog).toHaveCount(0);
  await expect(staged).toContainText('stop the server where it was started');
});

test('a confirmation does not show the error of an earlier one', { tag: '@browser' }, async ({ desk }) => {
  const backup = await desk.request.post('/admin/api/backup/', { data: { passphrase: PASSPHRASE } });
  const buffer = await backup.body();
  await desk.goto('/#/settings?tab=backup');
  const dialog = previewOn(desk);
  const confirm = dialog.getByRole('button', { name: 'Restore at next start' });
  const showPreview = async () => {
    await showPreviewOf(buffer, desk);
    await expect(confirm).toBeVisible();
  };
  await showPreview();
  // The preview of another administrator takes the place of this one.
  const data = { kind: 'upload', passphrase: PASSPHRASE };
  const other = await desk.request.post('/admin/api/backup/restore/preview/', { data });
  expect(other.ok(), await other.text()).toBe(true);
  await confirm.click();
  await expect(dialog.getByRole('alert')).toBeVisible();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toHaveCount(0);
  await showPreview();
  await expect(dialog.getByRole('alert')).toHaveCount(0);
});

test('a preview names the certificates that the restore revokes', { tag: '@browser' }, async ({ desk }) => {
  const call = async (path: string, data: object) => {
    const response = await desk.request.post(`/admin/api/${path}/`, { data });
    expect(response.ok(), await response.text()).toBe(true);
    return response;
  };
  const issueLicense = async () => {
    const response = await call('licenses', { holder: 'Acme' });
    return ((await response.json()) as { license: { license_id: number } }).license.license_id;
  };
  const before = await issueLicense();
  const buffer = await (await call('backup', { passphrase: PASSPHRASE })).body();
  await call('certs/generate', { license_id: before, common_name: 'kept' });
  await call('certs/generate', { license_id: await issueLicense(), common_name: 'lost' });
  await desk.goto('/#/settings?tab=backup');
  await showPreviewOf(buffer, desk);
  const newer = previewOn(desk)
    .locator('section')
    .filter({ hasText: 'Certificates issued after the backup' });
  await expect(newer).toContainText('Kept (1)');
  await expect(newer).toContainText('Revoked by the restore (1)');
  await expect(newer).toContainText('CN=lost');
  await expect(newer).not.toContainText('No longer revocable');
});

test(
  'a preview names webhooks whose changes the restore takes back',
  { tag: '@browser' },
  async ({ desk }) => {
    const call = async (path: string, data: object) => {
      const response = await desk.request.post(`/admin/api/${path}/`, { data });
      expect(response.ok(), await response.text()).toBe(true);
      return response;
    };
    const register = async (name: string) => {
      const url = `https://93.184.216.34/${name}`;
      const response = await call('webhooks/register', { url, scope: 'all' });
      return ((await response.json()) as { webhook: { id: number } }).webhook.id;
    };
    const [rotated, paused] = [await register('rotated'), await register('paused')];
    const buffer = await (await call('backup', { passphrase: PASSPHRASE })).body();
    await call('webhooks/rotate', { id: rotated });
    const changes = { id: paused, paused: true, scope: 'license.renewed' };
    const updated = await desk.request.put('/admin/api/webhooks/', { data: changes });
    expect(updated.ok(), await updated.text()).toBe(true);
    await desk.goto('/#/settings?tab=backup');
    await showPreviewOf(buffer, desk);
    const sections = previewOn(desk).locator('section');
    await expect(sections.filter({ hasText: 'Active again' })).toContainText(
      'https://93.184.216.34/paused (paused), https://93.184.216.34/rotated (secret rotated)',
    );
    const changed = sections.filter({ hasText: 'API tokens and webhooks that change' });
    await expect(changed.getByRole('definition')).toHaveText(['Events, Delivery status', 'Signing secret']);
  },
);

test('a restore that a start has canceled is shown with its reason', async ({ desk }) => {
  const canceled = {
    source: 'license-desk-20260131T120000Z.ldbackup',
    created_at: '2026-01-31T12:00:00.000Z',
    version: '0.1.0',
    canceled_at: '2026-02-01T08:00:00.000Z',
    reason: 'a License Desk server on 10.0.0.2 uses the database; stop all servers and commands first',
  };
  await desk.route('**/admin/api/backup/restore/', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), canceled } });
  });
  await desk.goto('/#/settings?tab=backup');
  const notice = panelOn(desk).getByRole('status');
  await expect(notice).toContainText(
    /^The restore to .*2026.* was canceled on .*2026.*Nothing has changed\./u,
  );
  await expect(notice).toContainText(canceled.reason);
});

test(
  'a preview is of the file that was chosen, although another upload has replaced it',
  { tag: '@browser' },
  async ({ desk }) => {
    const backUp = async () => {
      const response = await desk.request.post('/admin/api/backup/', { data: { passphrase: PASSPHRASE } });
      return response.body();
    };
    const mimeType = 'application/octet-stream';
    const monday = { name: 'monday.ldbackup', mimeType, buffer: await backUp() };
    await desk.request.post('/admin/api/licenses/', { data: { holder: 'Acme' } });
    const friday = await backUp();
    await desk.goto('/#/settings?tab=backup');
    const restore = panelOn(desk);
    const choice = restore.getByLabel('Backup', { exact: true });
    await restore.locator('input[type=file]').setInputFiles(monday);
    await expect(choice.locator('option:checked')).toContainText('monday.ldbackup');
    await restore.getByLabel('Passphrase of the backup').fill(PASSPHRASE);

    // Another administrator uploads meanwhile, and the page does not hear of it before the preview.
    const known = await (await desk.request.get('/admin/api/backup/restore/')).body();
    let isPreviewed = false;
    await desk.route('**/admin/api/backup/restore/', (route) =>
      isPreviewed ? route.continue() : route.fulfill({ contentType: 'application/json', body: known }),
    );
    await desk.route('**/admin/api/backup/restore/preview/', (route) => {
      isPreviewed = true;
      return route.continue();
    });
    const upload = await desk.request.post('/admin/api/backup/restore/upload/', {
      data: friday,
      headers: { 'content-type': mimeType },
    });
    expect(upload.ok(), await upload.text()).toBe(true);
    await restore.getByRole('button', { name: 'Preview restore' }).click();
    await expect(restore.getByRole('alert')).toContainText('another upload has replaced this file');
    await expect(choice).toHaveValue('');
    await expect(choice).not.toContainText('monday.ldbackup');

    await choice.selectOption('upload');
    await restore.getByRole('button', { name: 'Preview restore' }).click();
    const dialog = previewOn(desk);
    await expect(dialog).toContainText('Uploaded file');
    await expect(dialog).not.toContainText('monday.ldbackup');
  },
);

test('an uploaded file is chosen although the page is updated meanwhile', async ({ desk }) => {
  const backUp = () => desk.request.post('/admin/api/backup/', { data: { passphrase: PASSPHRASE } });
  const file = {
    name: 'desk.ldbackup',
    mimeType: 'application/octet-stream',
    buffer: await (await backUp()).body(),
  };
  await desk.goto('/#/settings?tab=backup');
  const restore = panelOn(desk);
  const chooser = restore.locator('input[type=file]');
  await expect(chooser).toBeAttached();
  const held: (() => void)[] = [];
  let isHolding = true;
  await desk.route('**/admin/api/backup/restore/', async (route) => {
    if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  await chooser.setInputFiles(file);
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await backUp();
  for (const release of held.splice(0)) release();
  // A live update asks again.
  await expect.poll(() => held.length).toBeGreaterThan(0);
  isHolding = false;
  for (const release of held) {
    const replied = desk.waitForResponse('**/admin/api/backup/restore/');
    release();
    await replied;
  }
  await expect(restore.locator('option:checked')).toContainText('desk.ldbackup');
});

test(
  'a file that anyone may have altered is accepted for itself only',
  { tag: '@browser' },
  async ({ desk }) => {
    const backup = await desk.request.post('/admin/api/backup/', { data: {} });
    const file = { mimeType: 'application/octet-stream', buffer: await backup.body() };
    await desk.goto('/#/settings?tab=backup');
    const restore = panelOn(desk);
    const chooser = restore.locator('input[type=file]');
    const accept = restore.getByLabel('Restore this backup without a passphrase');
    await chooser.setInputFiles({ name: 'monday.tar', ...file });
    await accept.check();
    const preview = restore.getByRole('button', { name: 'Preview restore' });
    await expect(preview).toBeEnabled();
    await chooser.setInputFiles({ name: 'friday.tar', ...file });
    await expect(restore.locator('option:checked')).toContainText('friday.tar');
    await expect(accept).not.toBeChecked();
    await expect(preview).toBeDisabled();
  },
);
