import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, issueLicense, test } from './test.ts';

test('what is wrong with an entry is said in the language of the page', async ({ desk }) => {
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/licenses?new=1');
  const dialog = desk.getByRole('dialog', { name: 'Neue Lizenz' });
  await dialog.getByRole('button', { name: 'Lizenz ausstellen' }).click();
  const holder = dialog.getByLabel('Inhaber');
  await expect(holder).toBeFocused();
  await expect(holder).toHaveAccessibleDescription(/^Dieses Feld ist erforderlich/u);
  await holder.fill('Acme');
  await expect(holder).not.toHaveAttribute('aria-invalid');
  await dialog.getByLabel('Laufzeit (Tage)').fill('0');
  await desk.keyboard.press('Enter');
  await expect(dialog.getByLabel('Laufzeit (Tage)')).toHaveAccessibleDescription(
    /^Geben Sie eine Zahl von 1 bis/u,
  );
  await expect(desk.getByRole('dialog')).toHaveCount(1);
});

test('what is wrong with a refused field is said in German', async ({ desk }) => {
  await issueLicense(desk, { holder: 'Acme' });
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/licenses?open=1&action=edit');
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Inhaber').fill('Ac\u200Bme');
  await dialog.getByLabel('E-Mail').fill('no address');
  await dialog.getByRole('button', { name: 'Speichern' }).click();
  const refused = dialog.getByRole('alert');
  await expect(refused).toContainText('Der Server hat diese Werte abgelehnt:');
  await expect(refused.getByRole('listitem')).toHaveText([
    'Inhaber: Entfernen Sie das unsichtbare Zeichen (U+200B).',
    'E-Mail: Geben Sie eine E-Mail-Adresse ein, etwa name@example.com.',
  ]);
  await expect(refused.locator('[lang="en"]')).toHaveCount(0);
  await expect(dialog.getByLabel('E-Mail')).toHaveAccessibleDescription(/Geben Sie eine E-Mail-Adresse ein/u);
});

test('why a setting is refused is said in German', async ({ desk }) => {
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/settings?tab=webhooks');
  const networks = desk.getByLabel('Private Netzwerke für Webhooks');
  await networks.fill('nowhere');
  await desk.getByRole('button', { name: 'Speichern' }).click();
  await expect(networks).toHaveAccessibleDescription(
    /Geben Sie Netzwerke ein, etwa 10\.0\.0\.0\/8,fd00::\/8\./u,
  );
  await expect(desk.getByRole('alert').locator('[lang="en"]')).toHaveCount(0);
});

test('what keeps the next start from using a setting is said in German', async ({ desk }, info) => {
  const note = info.outputPath('note.txt');
  writeFileSync(note, 'no URL');
  await desk.getByLabel('Language').selectOption('Deutsch');
  const save = desk.getByRole('button', { name: 'Speichern' });
  const english = desk.getByRole('alert').locator('[lang="en"]');

  await desk.goto('/#/settings?tab=backup');
  await desk.getByText('Täglich', { exact: true }).click();
  const folder = desk.getByLabel('Sicherungsordner');
  await folder.fill(note);
  const passphrase = desk.getByLabel('Passphrasendatei');
  await passphrase.fill(`${note}.missing`);
  await save.click();
  await expect(folder).toHaveAccessibleDescription(new RegExp(`${note} ist kein Ordner\\.`, 'u'));
  await expect(passphrase).toHaveAccessibleDescription(
    new RegExp(`${note}\\.missing ist nicht vorhanden\\.`, 'u'),
  );
  await expect(english).toHaveCount(0);
  await desk.getByRole('button', { name: 'Verwerfen' }).click();

  await desk.goto('/#/settings?tab=data');
  const url = desk.getByLabel('PostgreSQL-URL', { exact: true });
  await url.fill('postgres://desk@127.0.0.1:1/desk');
  await save.click();
  await expect(url).toHaveAccessibleDescription(/Der Datenbankserver nimmt keine Verbindungen an\./u);
  await desk.getByLabel('PostgreSQL-URL-Datei').fill(note);
  await save.click();
  await expect(url).toHaveAccessibleDescription(
    /Verwenden Sie nur eines dieser Felder: PostgreSQL-URL-Datei oder PostgreSQL-URL\./u,
  );
  await expect(english).toHaveCount(0);
  await desk.getByRole('button', { name: 'Verwerfen' }).click();
});

test('why the next start would refuse config.json is said in German', async ({ desk, server }) => {
  const file = join(server.dataDir, 'config.json');
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/settings');
  const problem = desk.getByRole('alert').filter({ hasText: 'config.json' });
  for (const [content, text] of [
    ['{ "scan_seconds": "often" }', /: Geben Sie eine Anzahl von Sekunden über 0 ein\.$/u],
    ['{ "colour": "blue" }', /colour: Diese Einstellung ist unbekannt\./u],
    ['[', /enthält kein einzelnes JSON-Objekt\./u],
  ] as const) {
    writeFileSync(file, content);
    await desk.reload();
    await expect(problem).toContainText(text);
    await expect(problem.locator('[lang="en"]')).toHaveCount(0);
  }
});

test('why an authority is not imported is said in German', async ({ desk }, info) => {
  const make = (name: string, ...extensions: string[]) => {
    const [key, certificate] = [info.outputPath(`${name}.key`), info.outputPath(`${name}.pem`)];
    const added = extensions.flatMap((extension) => ['-addext', extension]);
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const files = ['-keyout', key, '-out', certificate];
    const usage = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
    execFileSync(
      'openssl',
      ['req', '-x509', '-subj', `/O=Acme/CN=${name}`, ...ec, ...files, ...usage, ...added],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
  };
  const root = make('Root');
  const limited = make('Limited', 'nameConstraints=critical,excluded;email:acme.example');
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/certificates?view=authority');
  await desk.getByRole('button', { name: 'Andere importieren' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Zertifizierungsstelle importieren' });
  const certificate = dialog.getByRole('textbox', { name: 'Zertifikat (PEM)' });
  const refused = dialog.getByRole('alert').getByRole('listitem');

  async function isRefused(chain: string, key: string, problem: RegExp): Promise<void> {
    await certificate.fill(chain);
    await dialog.getByRole('textbox', { name: 'Privater Schlüssel (PEM)' }).fill(key);
    await dialog.getByRole('button', { name: 'Importieren', exact: true }).click();
    await expect(refused).toHaveText(problem);
    await expect(certificate).toHaveAccessibleDescription(problem);
    await expect(refused.locator('[lang="en"]')).toHaveCount(0);
  }
  await isRefused(limited.certificate, limited.key, /CN=Limited,O=Acme darf keine Namenseinschränkungen/u);
  await isRefused(
    root.certificate + limited.certificate,
    root.key,
    /Jedes weitere Zertifikat muss das vorherige signiert haben\./u,
  );
});

test('the errors of an imported file and its columns without a name are shown in German', async ({
  desk,
}) => {
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'Lizenzen aus CSV importieren' }).click();
  const dialog = desk.getByRole('dialog', { name: 'Aus CSV importieren' });
  const lines = [
    'Kunde;E-Mail;Tarif;Ablauf;;Schlüssel',
    ';;;;;',
    'Acme;nobody;nowhere;31.02.2040;x;AAAAA',
    'Acme;;;;;;zu viel',
  ];
  await dialog.getByLabel('CSV-Datei').setInputFiles({
    name: 'lizenzen.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`${lines.join('\n')}\n;;standard;;0;\n`),
  });
  const term = dialog.getByLabel('Laufzeit (Tage)');
  await expect(term.getByRole('option')).toContainText(['Spalte 5']);
  await dialog.getByRole('checkbox', { name: 'Spalte 5' }).check();
  await expect(dialog.getByText('Feldname:')).toHaveCount(0);
  await term.selectOption('Spalte 5');
  await dialog.getByRole('button', { name: 'Alle Zeilen prüfen' }).click();
  const findings = dialog.getByRole('region', { name: 'Fehler nach Zeile' });
  await expect(findings.getByRole('row')).toHaveText([
    /^\s*Zeile\s*Spalte\s*Problem\s*$/u,
    /3\s*E-Mail\s*Geben Sie eine E-Mail-Adresse ein, etwa name@example\.com\./u,
    /3\s*Spalte 5\s*Geben Sie eine ganze Zahl von 1 bis 36\.500 ein\./u,
    /3\s*Ablauf\s*Geben Sie ein Datum ein, etwa 31\.01\.2027 oder 2027-01-31\./u,
    /3\s*Schlüssel\s*Ungültiger Lizenzschlüssel \(Prüfsumme stimmt nicht\)\./u,
    /3\s*Tarif\s*Der Plan nowhere wurde nicht gefunden\./u,
    /4\s*–\s*Die Zeile hat 7 Zellen, die Datei aber 6 Spalten\./u,
    /5\s*Kunde\s*Geben Sie einen Wert ein\./u,
    /5\s*Spalte 5\s*Geben Sie eine ganze Zahl von 1 bis 36\.500 ein\./u,
  ]);
  await expect(findings.locator('[lang="en"]')).toHaveCount(0);

  const downloaded = desk.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Fehlerhafte Zeilen speichern' }).click();
  const file = readFileSync(await (await downloaded).path(), 'utf8');
  expect(file).toMatch(/^\ufeffline;error;Kunde;E-Mail;Tarif;Ablauf;/u);
  expect(file).toContain('\r\n4;Die Zeile hat 7 Zellen, die Datei aber 6 Spalten.;Acme;');
  expect(file).toContain(
    '\r\n5;Kunde: Geben Sie einen Wert ein. Spalte 5: Geben Sie eine ganze Zahl von 1 bis 36.500 ein.;;;standard;',
  );
});

test('an English message of the server is marked as English on a German page', async ({ desk }) => {
  const key = await issueLicense(desk, { holder: 'Acme' });
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/licenses?open=1');
  const dialog = desk.getByRole('dialog');
  await desk.getByRole('complementary').getByRole('button', { name: 'Verlängern' }).click();
  await dialog.getByRole('button', { name: 'Verlängern' }).click();
  const results = desk.getByRole('log');
  // The focus keeps the result on the page.
  await results.getByRole('button', { name: 'Rückgängig' }).focus();
  const revoked = await desk.request.post('/admin/api/licenses/revoke/', { data: { ref: key } });
  expect(revoked.ok(), await revoked.text()).toBe(true);
  await desk.keyboard.press('Enter');
  await expect(results).toContainText('Nicht rückgängig gemacht: Die Lizenz ist widerrufen.');
  await expect(results.locator('[lang="en"]')).toContainText('revoked');
});

test('a webhook whose host does not resolve is refused without advice about private networks', async ({
  desk,
}) => {
  await desk.getByLabel('Language').selectOption('Deutsch');
  await desk.goto('/#/webhooks');
  await desk.getByRole('button', { name: 'Ersten Webhook registrieren' }).click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://nowhere.invalid/hook');
  await dialog.getByRole('button', { name: 'Registrieren' }).click();
  const refused = dialog.getByRole('alert');
  await expect(refused).toContainText('Der Hostname kann nicht aufgelöst werden.');
  await expect(refused).not.toContainText('privates Netzwerk');
  await expect(dialog.getByLabel('URL')).toBeFocused();
});
