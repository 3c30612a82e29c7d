import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { gate } from './gate.ts';
import { goTo, task } from './tasks.ts';
import { expect, issueLicense, test } from './test.ts';

const rows = (page: Page) =>
  page.getByRole('grid', { name: 'Certificates' }).getByRole('rowgroup').getByRole('row');

/** Saves a file from the page. */
async function save(page: Page, name: string): Promise<{ file: string; text: string }> {
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name, exact: true }).click();
  const download = await saving;
  return { file: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

async function pickLicense(dialog: Locator, holder: string): Promise<void> {
  await dialog.getByRole('combobox', { name: 'License' }).fill(holder);
  await dialog.getByRole('option', { name: holder }).click();
}

/** A signing request. Its key is in a temporary directory, which is removed. */
function makeSigningRequest(): string {
  const directory = mkdtempSync(join(tmpdir(), 'license-desk-csr-'));
  const csr = join(directory, 'machine.csr');
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=ignored'];
  try {
    execFileSync('openssl', ['req', '-new', ...options, '-keyout', `${csr}.key`, '-out', csr], {
      stdio: 'ignore',
    });
    return readFileSync(csr, 'utf8');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test(
  'a certificate is issued with a one-time key, checked, and revoked with a reason',
  { tag: '@browser' },
  async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme Robotics' });
    const dialog = desk.getByRole('dialog');
    const { file, text } = await task(desk, 'issue a certificate and download its key', async () => {
      await goTo(desk, 'Certificates');
      await desk.getByRole('button', { name: 'Issue your first certificate' }).click();
      await pickLicense(dialog, 'Acme Robotics');
      await dialog.getByLabel('Common name').fill('Arbeitsplatz 7');
      await dialog.getByLabel('Organization').fill('Acme');
      await expectAccessible(desk);
      await dialog.getByRole('button', { name: 'Issue' }).click();
      await expect(dialog).toContainText(
        /You can download the private key once, until .+ UTC \(in 15 minutes\)\./u,
      );
      const saved = await save(desk, 'Download key and certificate');
      await expect(dialog).toContainText('The server no longer has the key.');
      await dialog.getByRole('button', { name: 'Done' }).click();
      return saved;
    });
    expect(file).toBe('Arbeitsplatz-7.pem');
    const certificate = new X509Certificate(text.slice(text.indexOf('-----BEGIN CERTIFICATE')));
    expect(certificate.checkPrivateKey(createPrivateKey(text))).toBe(true);

    await expect(rows(desk)).toHaveCount(1);
    await expect(rows(desk)).toContainText(['Arbeitsplatz 7']);
    await rows(desk).click();
    const inspector = desk.getByRole('complementary', { name: 'Arbeitsplatz 7' });
    await expect(inspector).toContainText('CN=Arbeitsplatz 7,O=Acme');
    await expect(inspector).toContainText(certificate.fingerprint256);
    await expectAccessible(desk);

    const serial = certificate.serialNumber;
    await desk.getByRole('button', { name: 'Check certificate' }).click();
    await dialog.getByLabel('Certificate (PEM) or serial number').fill(certificate.toString());
    await dialog.getByRole('button', { name: 'Check' }).click();
    await expect(dialog).toContainText('This server issued the certificate, and it is valid.');
    await dialog.getByLabel('Certificate (PEM) or serial number').fill('no such thing');
    await expect(dialog).not.toContainText('This server issued the certificate');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await expect(dialog.getByRole('alert')).toContainText('must be a serial number in hex');
    await dialog.getByRole('button', { name: 'Close' }).click();

    await desk.goto('/#/overview');
    const der = await task(desk, 'revoke a certificate and download the CRL', async () => {
      await goTo(desk, 'Certificates');
      await rows(desk).click();
      await inspector.getByRole('button', { name: 'Revoke' }).click();
      await dialog.getByLabel('Reason').selectOption('key_compromise');
      await expect(dialog.getByRole('button', { name: 'Revoke' })).toBeDisabled();
      await dialog.getByLabel('Type Arbeitsplatz 7 to confirm').fill('Arbeitsplatz 7');
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await expect(inspector).toContainText('Key compromised');
      await desk.getByRole('tab', { name: 'CRL' }).click();
      const fetching = desk.waitForEvent('download');
      await desk.getByRole('link', { name: 'Download DER' }).click();
      return readFileSync(await (await fetching).path());
    });
    // A DER sequence with a two-byte length (X.690, 8.1).
    expect(der[0]).toBe(0x30);
    await desk.goto('/#/certificates?open=1');
    await expect(inspector).toContainText('Key compromised');
    await expect(inspector.getByRole('button', { name: 'Revoke' })).toHaveCount(0);

    await desk.getByLabel('State', { exact: true }).selectOption('Valid');
    await expect(desk.getByText('No certificates match')).toBeVisible();
    await desk.getByLabel('State', { exact: true }).selectOption('Revoked');
    await expect(rows(desk)).toHaveCount(1);

    await desk.getByRole('button', { name: 'Check certificate' }).click();
    await dialog
      .getByLabel('Certificate (PEM) or serial number')
      .fill(serial.replaceAll(/(..)(?=.)/gu, '$1:'));
    await dialog.getByRole('button', { name: 'Check' }).click();
    await expect(dialog).toContainText('The certificate is revoked.');
    await expect(dialog).toContainText('Key compromised');
    await desk.keyboard.press('Escape');

    await desk.getByRole('tab', { name: 'CRL' }).click();
    await expect(desk.getByRole('region', { name: 'CRL' })).toContainText('Current');
    await expect(desk.getByRole('grid', { name: 'Revoked certificates' })).toContainText(
      serial.toLowerCase(),
    );
    await expectAccessible(desk);
  },
);

test('a revocation names the servers that do not serve the new CRL yet', async ({ desk, server }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  await server.cli('cert', 'issue', '--license', key, '--common-name', 'stolen');
  await desk.route('**/admin/api/certs/revoke/', async (route) => {
    const response = await route.fetch();
    const reply = (await response.json()) as object;
    await route.fulfill({ response, json: { ...reply, listed: false, late_servers: ['desk-2'] } });
  });
  await desk.goto('/#/certificates');
  await rows(desk).click();
  await desk.getByRole('button', { name: 'Revoke' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Type stolen to confirm').fill('stolen');
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect(dialog).toContainText('these servers may still serve the earlier CRL: desk-2.');
  await expect(dialog).not.toContainText('not on the CRL yet');
});

test(
  'a certificate is issued from a signing request, without a key download',
  { tag: '@browser' },
  async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme' });
    await desk.goto('/#/certificates');
    await desk.getByRole('button', { name: 'Issue certificate' }).click();
    const dialog = desk.getByRole('dialog');
    await pickLicense(dialog, 'Acme');
    await dialog.getByLabel('Common name').fill('machine-8');
    await dialog.getByLabel('Use a certificate signing request').check();
    await dialog
      .getByLabel('Certificate signing request (CSR)', { exact: true })
      .fill('-----BEGIN NOTHING-----');
    await dialog.getByRole('button', { name: 'Issue' }).click();
    await expect(dialog.getByRole('alert')).toContainText(
      'Certificate signing request (CSR): The signing request must',
    );
    await expect(dialog.getByLabel('Certificate signing request (CSR)', { exact: true })).toHaveAttribute(
      'aria-invalid',
      'true',
    );
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'machine.csr',
      mimeType: 'application/pkcs10',
      buffer: Buffer.from(makeSigningRequest()),
    });
    await expect(dialog.getByLabel('Certificate signing request (CSR)', { exact: true })).toHaveValue(
      /BEGIN CERTIFICATE REQUEST/u,
    );
    await dialog.getByRole('button', { name: 'Issue' }).click();
    await expect(dialog).toContainText('The private key is where the signing request was created.');
    const { text } = await save(desk, 'Save certificate');
    expect(new X509Certificate(text).publicKey.asymmetricKeyType).toBe('ec');
  },
);

test(
  'the authority is downloaded and renewed, and not replaced while its certificates are valid',
  { tag: '@browser' },
  async ({ desk, server }) => {
    const key = await issueLicense(desk, { holder: 'Acme' });
    await server.cli('cert', 'issue', '--license', key, '--common-name', 'in-force');
    await desk.goto('/#/certificates?view=authority');
    const panel = desk.getByRole('region', { name: 'Certificate authority' });
    const { file, text } = await save(desk, 'Download ca.pem');
    expect(file).toBe('ca.pem');
    const before = new X509Certificate(text);
    await expect(panel).toContainText(before.fingerprint256);
    await expectAccessible(desk);

    await desk.getByRole('button', { name: 'Renew' }).click();
    const dialog = desk.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Renew' }).click();
    await expect(dialog).toHaveCount(0);
    await expect(panel).not.toContainText(before.fingerprint256);

    await desk.getByRole('button', { name: 'Import another' }).click();
    await dialog.getByLabel('Certificate (PEM)').fill(before.toString());
    await dialog.getByLabel('Private key (PEM)').fill('-----BEGIN PRIVATE KEY-----');
    await dialog.getByRole('button', { name: 'Import' }).click();
    await expect(dialog.getByRole('alert')).toBeVisible();
    await expect(dialog.getByLabel('Private key (PEM)')).toHaveAttribute('aria-invalid', 'true');
    await desk.keyboard.press('Escape');
    await desk.getByRole('button', { name: 'Import another' }).click();
    await expect(dialog.getByLabel('Private key (PEM)')).toHaveValue('');
  },
);

test('the list of licenses that were found does not open after its field was left', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.goto('/#/certificates');
  await desk.getByRole('button', { name: 'Issue your first certificate' }).click();
  const [asked, released] = [gate(), gate()];
  await desk.route(/\/licenses\/\?.*search=/u, async (route) => {
    asked.open();
    await released.isOpen;
    return route.continue();
  });
  const dialog = desk.getByRole('dialog');
  const picker = dialog.getByRole('combobox', { name: 'License' });
  await picker.fill('Acme');
  await asked.isOpen;
  await picker.press('Tab');
  released.open();
  await expect(dialog.getByRole('option', { name: 'Acme', includeHidden: true })).toHaveCount(1);
  await expect(picker).toHaveAttribute('aria-expanded', 'false');
});
