import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { decryptBackup } from '../helpers/decrypt-backup.ts';
import { expectAccessible } from './accessibility.ts';
import { goTo, task } from './tasks.ts';
import { alertWith, expect, issueLicense, test } from './test.ts';

const saveBar = (page: Page) => page.getByRole('group', { name: 'Unsaved changes' });

test('a setting is changed, rejected, undone and discarded', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/settings');
  // A value from the command line cannot be changed here.
  const port = desk.getByLabel('API port');
  await expect(port).toHaveAttribute('readonly');
  await expect(desk.getByText('Set by --port on the command line. Change it there.')).toBeVisible();

  const limit = desk.getByLabel('Rate limit: token checks');
  await expect(limit).toHaveValue('60');
  await limit.fill('lots');
  await expect(saveBar(desk)).toContainText('1 unsaved change Rate limit: token checks: 60 → lots');
  await saveBar(desk).getByRole('button', { name: 'Save changes' }).click();
  await expect(alertWith(desk, 'must be 0 to 1000000')).toBeVisible();
  await expect(limit).toHaveAttribute('aria-invalid', 'true');
  await expectAccessible(desk);

  // What is entered survives a look at another screen.
  await desk.getByRole('link', { name: 'Audit' }).click();
  await desk.getByRole('link', { name: 'Settings' }).click();
  await expect(limit).toHaveValue('lots');
  await limit.fill('120');
  await limit.press('Enter');
  const results = desk.getByRole('log', { name: 'Results' });
  // The pointer keeps the result on the page.
  await results.getByText('Setting saved', { exact: true }).hover();
  await expect(saveBar(desk)).toHaveCount(0);
  await expect(desk.getByText('60 until the next restart.')).toBeVisible();
  await expect(desk.getByText('stop the server and start it again')).toBeVisible();
  await expectAccessible(desk);

  await results.getByRole('button', { name: 'Undo' }).click();
  await expect(limit).toHaveValue('60');
  await expect(desk.getByText('Changed settings are not active yet.')).toHaveCount(0);

  await limit.fill('70');
  await saveBar(desk).getByRole('button', { name: 'Discard' }).click();
  await expect(limit).toHaveValue('60');
});

test('network access without TLS is a red warning with its remedy', async ({ desk }) => {
  const danger = alertWith(desk, 'Network access without TLS');
  const listening = desk.getByRole('region', { name: 'Listening addresses after the next start' });
  await task(desk, 'open the API to the network with TLS', async () => {
    await goTo(desk, 'Settings');
    await desk.getByRole('radio', { name: 'Network' }).check();
    await expect(danger).toBeVisible();
    await expect(listening).toContainText('Unencrypted');
    await expect(saveBar(desk)).toContainText('Who can connect: This machine → Network');
    await expectAccessible(desk);
    await danger.getByRole('button', { name: 'Turn on TLS' }).click();
    await expect(danger).toHaveCount(0);
    await expect(desk.getByRole('radio', { name: 'Built-in authority' })).toBeChecked();
    await expect(listening).toContainText('Encrypted');
    await saveBar(desk).getByRole('button', { name: 'Save changes' }).click();
    await expect(desk.getByText('stop the server and start it again')).toBeVisible();
  });
  await desk.getByRole('radio', { name: 'This machine' }).check();
  await expect(listening).toContainText('https://127.0.0.1');

  // An address is needed before the form can be saved.
  await desk.getByRole('radio', { name: 'One address' }).check();
  await saveBar(desk).getByRole('button', { name: 'Save changes' }).click();
  await expect(desk.getByLabel('API address')).toBeFocused();
  await desk.getByRole('radio', { name: 'This machine' }).check();

  // Two files are needed before the form can be saved.
  await desk.getByRole('radio', { name: 'Your own certificate' }).check();
  await saveBar(desk).getByRole('button', { name: 'Save changes' }).click();
  await expect(desk.getByLabel('Certificate file')).toBeFocused();
  await desk.getByLabel('Certificate file').fill('/nowhere/cert.pem');
  await desk.getByLabel('Private key file').fill('/nowhere/key.pem');
  await saveBar(desk).getByRole('button', { name: 'Save changes' }).click();
  await expect(alertWith(desk, '/nowhere/cert.pem')).toBeVisible();
});

test('configuration names are behind Details', async ({ desk }) => {
  await desk.goto('/#/settings?tab=webhooks');
  await expect(desk.getByLabel('Private networks for webhooks')).toBeVisible();
  await expect(desk.getByText('LICENSE_DESK_WEBHOOK_ALLOW')).toBeHidden();
  await desk.getByText('Details: configuration names and sources').click();
  await expect(desk.getByRole('row', { name: /^webhook_allow --webhook-allow/u })).toBeVisible();
  await expectAccessible(desk);
});

test('dangerous settings show a warning', async ({ desk }) => {
  await desk.route('**/admin/api/settings/', async (route) => {
    const response = await route.fetch();
    const warnings = [{ code: 'caller_address_forgeable', message: 'in English' }];
    await route.fulfill({ response, json: { ...((await response.json()) as object), warnings } });
  });
  await desk.goto('/#/settings');
  await expect(desk.getByRole('note')).toContainText('A client that connects directly can forge its address');
  await expectAccessible(desk);
});

test(
  'signing keys are rotated after confirmation, and public keys are saved',
  { tag: '@browser' },
  async ({ desk }) => {
    await desk.goto('/#/settings?tab=keys');
    const rows = desk.getByRole('table', { name: 'Signing keys' }).locator('tbody tr');
    await expect(rows).toHaveCount(1);
    const id = (await rows.getByRole('rowheader').textContent()) ?? '';
    const waiting = desk.waitForEvent('download');
    await desk.getByRole('button', { name: `Save PEM: Public key of ${id}` }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe(`${id}.pem`);
    expect(readFileSync(await download.path(), 'utf8')).toContain('BEGIN PUBLIC KEY');

    await desk.goto('/#/overview');
    await task(desk, 'rotate the signing key', async () => {
      await goTo(desk, 'Settings');
      await desk.getByRole('tab', { name: 'Signing keys' }).click();
      await desk.getByRole('button', { name: 'Rotate key' }).click();
      const dialog = desk.getByRole('dialog', { name: 'Rotate the signing key?' });
      await expect(dialog.getByRole('button', { name: 'Rotate key' })).toBeDisabled();
      await dialog.getByLabel(`Type ${id} to confirm`).fill(id);
      await expectAccessible(desk);
      await dialog.getByRole('button', { name: 'Rotate key' }).click();
      await expect(rows).toHaveCount(2);
    });
    await expect(rows.first()).toContainText('Active');
    await expect(rows.last()).toContainText(`${id}Retired`);
    await expectAccessible(desk);
  },
);

test('About shows the version, and the license of every package', { tag: '@browser' }, async ({ desk }) => {
  const fetched: string[] = [];
  desk.on('request', (request) => fetched.push(new URL(request.url()).pathname));
  await desk.goto('/#/settings');
  await desk.getByRole('tab', { name: 'Backup' }).click();
  expect(fetched).not.toContain('/third-party.json');
  await desk.getByRole('tab', { name: 'About' }).click();
  await expect(desk.getByText(/^License Desk \d+\.\d+\.\d+$/u)).toBeVisible();
  const list = desk.getByRole('list', { name: 'Third-party packages' });
  await list.getByText(/^vue 3\./u).click();
  await expect(list.getByLabel('License of vue', { exact: true })).toContainText(
    'Permission is hereby granted',
  );
  await expect(list.getByText(/^express 5\./u)).toBeVisible();
  await expectAccessible(desk);
});

test('other sessions are listed and signed out', { tag: '@browser' }, async ({ desk, server, browser }) => {
  const strangers = await Promise.all(
    [1, 2].map(async () => {
      const page = await (await browser.newContext()).newPage();
      await page.goto(await server.link());
      await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
      return page;
    }),
  );
  await desk.goto('/#/settings?tab=sessions');
  const rows = desk.getByRole('table', { name: 'Sessions' }).locator('tbody tr');
  await expect(rows).toHaveCount(3);
  await expect(rows.filter({ hasText: 'This session' })).toHaveCount(1);
  await expectAccessible(desk);
  await rows.filter({ hasNotText: 'This session' }).first().getByRole('button', { name: 'Sign out' }).click();
  await expect(rows).toHaveCount(2);
  await desk.goto('/#/overview');
  await task(desk, 'create an API token and sign the others out', async () => {
    await goTo(desk, 'API access');
    await desk.getByRole('button', { name: 'Create your first API token' }).click();
    const dialog = desk.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Web-Shop');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    await goTo(desk, 'Settings');
    await desk.getByRole('tab', { name: 'Sessions' }).click();
    await desk.getByRole('button', { name: 'Sign out all other sessions' }).click();
    await dialog.getByRole('button', { name: 'Sign out all other sessions' }).click();
    await expect(rows).toHaveCount(1);
  });
  for (const page of strangers) {
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    await page.context().close();
  }
});

test(
  'backups are scheduled, and one is restored from the page',
  { tag: '@browser' },
  async ({ desk, server }, info) => {
    const { passphrase, file } = {
      passphrase: 'correct horse battery staple moon',
      file: info.outputPath('desk.ldbackup'),
    };
    await desk.goto('/#/settings?tab=backup');
    await expect(desk.getByRole('region', { name: 'Last backup' })).toContainText('None yet');
    await desk.getByLabel('Every day').check();
    await desk.getByLabel('Backup folder').fill('backups');
    await saveBar(desk).getByRole('button', { name: 'Save changes' }).click();
    await expect(alertWith(desk, 'must be an absolute path')).toBeVisible();
    await desk.getByLabel('Backup folder').fill(info.outputPath('backups'));
    await desk.getByLabel('Hour').selectOption({ label: '04:00' });
    await saveBar(desk).getByRole('button', { name: 'Save changes' }).click();
    await expect(saveBar(desk)).toHaveCount(0);
    await expectAccessible(desk);

    const restore = desk.getByRole('region', { name: 'Restore a backup' });
    const dialog = desk.getByRole('dialog', { name: 'Restore this backup?' });
    await desk.goto('/#/overview');
    await task(desk, 'back up and restore', async () => {
      await goTo(desk, 'Settings');
      await desk.getByRole('tab', { name: 'Backup' }).click();
      await desk.getByLabel('Passphrase (recommended)').fill(passphrase);
      await desk.getByLabel('Repeat passphrase').fill(passphrase);
      const waiting = desk.waitForEvent('download');
      await desk.getByRole('button', { name: 'Download backup' }).click();
      await (await waiting).saveAs(file);
      await restore.locator('input[type=file]').setInputFiles(file);
      await restore.getByLabel('Passphrase of the backup').fill(passphrase);
      await restore.getByRole('button', { name: 'Preview restore' }).click();
      await dialog.getByRole('button', { name: 'Restore at next start' }).click();
      await expect(restore.getByRole('status')).toContainText('stop the server where it was started');
    });
    await restore.getByRole('button', { name: 'Cancel restore' }).click();

    await issueLicense(desk, { holder: 'Firma Neu GmbH' });
    await restore.locator('input[type=file]').setInputFiles(file);
    await restore.getByLabel('Passphrase of the backup').fill('wrong passphrase');
    await restore.getByRole('button', { name: 'Preview restore' }).click();
    await expect(restore.getByRole('alert')).toContainText('the passphrase is wrong');
    await restore.getByLabel('Passphrase of the backup').fill(passphrase);
    await restore.getByRole('button', { name: 'Preview restore' }).click();
    await expect(dialog).toContainText('Yes, proven by its passphrase');
    await expect(dialog.locator('dl > div').filter({ hasText: 'Licenses' })).toContainText(/1.*0/u);
    await expectAccessible(desk);
    await dialog.getByRole('button', { name: 'Restore at next start' }).click();
    // Without a supervisor, the page says what to do.
    await expect(restore.getByRole('status')).toContainText('stop the server where it was started');
    await expect(restore.getByRole('button', { name: 'Cancel restore' })).toBeVisible();
    await server.crash();
    await server.startAgain();
    await expect(restore.getByRole('note')).toContainText('The previous data is in before-restore-');
    await restore.getByRole('button', { name: 'Return to the previous data…' }).click();
    await expect(dialog).toContainText('Yes, data of this installation from before a restore');
  },
);

test('a backup is downloaded, encrypted under a passphrase', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/settings?tab=backup');
  const passphrase = desk.getByLabel('Passphrase (recommended)');
  const repeated = desk.getByLabel('Repeat passphrase');
  const button = desk.getByRole('button', { name: 'Download backup' });
  await expect(desk.getByText('Without a passphrase, the backup is not encrypted.')).toBeVisible();
  for (const [text, verdict] of [
    ['horse', 'Too short: use at least 12 characters.'],
    ['aaaaaaaaaaaaaaaa', 'Weak'],
    ['correct horse battery', 'Fair'],
    ['correct horse battery staple moon', 'Strong'],
  ] as const) {
    await passphrase.fill(text);
    await expect(desk.getByRole('region', { name: 'Create a backup' }).getByRole('status')).toContainText(
      verdict,
    );
  }
  await repeated.fill('correct horse buttery');
  await expect(alertWith(desk, 'The passphrases do not match.')).toBeVisible();
  await expect(repeated).toHaveAccessibleDescription('The passphrases do not match.');
  await expect(button).toBeDisabled();
  await repeated.fill('correct horse battery staple moon');
  await expectAccessible(desk);
  const waiting = desk.waitForEvent('download');
  await button.click();
  const download = await waiting;
  const name = download.suggestedFilename();
  expect(name).toMatch(/^license-desk-\d{8}T\d{6}Z\.ldbackup$/u);
  const archive = decryptBackup(readFileSync(await download.path()), 'correct horse battery staple moon');
  expect(archive.includes('manifest.json')).toBe(true);
  await expect(desk.getByText(`Saved as ${name}.`)).toBeVisible();
  await expect(passphrase).toHaveValue('');
  await expect(desk.getByRole('region', { name: 'Last backup' })).toContainText('A downloaded file');

  await desk.route('**/admin/api/backup/', (route) =>
    route.fulfill({
      status: 503,
      json: {
        ok: false,
        error_code: 'unavailable',
        message: 'another backup is in progress; try again when it is done',
        request_id: 'x',
      },
    }),
  );
  await button.click();
  await expect(alertWith(desk, 'Another backup is in progress')).toBeVisible();
});

test('retention shows what is stored and for how long', { tag: '@browser' }, async ({ desk }) => {
  await desk.goto('/#/settings?tab=retention');
  const table = desk.getByRole('table', { name: 'Retention' });
  await expect(table.getByRole('row', { name: /^Events/u })).toContainText('400 days');
  await expect(table.getByRole('row', { name: /^Audit log/u })).toContainText('Forever');
  await expect(table.getByRole('row', { name: /^Deleted webhooks/u })).toContainText(
    'As long as their deliveries',
  );
  await expect(desk.getByText('Not yet')).toBeVisible();
  await expectAccessible(desk);
  const waiting = desk.waitForEvent('download');
  await desk.getByRole('link', { name: 'Export audit log (CSV)' }).click();
  expect((await waiting).suggestedFilename()).toBe('audit.csv');

  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.getByRole('tab', { name: 'Aufbewahrung' }).click();
  const german = desk.getByRole('table', { name: 'Aufbewahrung' });
  await expect(german.getByRole('row', { name: /^Ereignisse/u })).toContainText('400 Tage');
});
