import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from './accessibility.ts';
import { goTo, task } from './tasks.ts';
import { chooseAction, expect, issueLicense, test } from './test.ts';

const csv = (text: string, encoding: 'utf8' | 'latin1' = 'utf8') => ({
  name: 'licenses.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(text, encoding),
});

async function openImport(desk: Page): Promise<Locator> {
  await desk.goto('/#/licenses');
  await desk.getByRole('button', { name: 'Import licenses from CSV' }).click();
  return desk.getByRole('dialog', { name: 'Import from CSV' });
}

/** @returns the dialog, which offers to import one license */
async function checkImport(desk: Page): Promise<Locator> {
  const dialog = await openImport(desk);
  await dialog.getByLabel('CSV file').setInputFiles(csv('holder\nAcme\n'));
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  return dialog;
}

test('licenses are imported from CSV, all of them or none', async ({ desk }) => {
  const dialog = await openImport(desk);
  await dialog.getByLabel('CSV file').setInputFiles(csv('\u0000'));
  await expect(dialog.getByRole('alert')).toBeVisible();

  await dialog
    .getByLabel('CSV file')
    .setInputFiles(
      csv('Kunde;E-Mail;Notiz;Tarif;KST\r\n"Ústav; s. p.";it@usl.example;1;gold;K-815\r\nAcme;;2;;\r\n'),
    );
  await expect(dialog.getByText('2 rows found. Assign their columns.')).toBeVisible();
  await expect(dialog.getByLabel('Holder')).toHaveValue('Kunde');
  await expect(dialog.getByLabel('Email')).toHaveValue('E-Mail');
  await expect(dialog.getByText('Example: Ústav; s. p.')).toBeVisible();
  await expect(dialog.getByLabel('Notes')).toHaveValue('Notiz');
  const custom = dialog.getByRole('group', { name: 'Custom fields' });
  await expect(custom.getByRole('checkbox')).toHaveCount(1);
  await expect(custom.getByLabel('KST')).toBeChecked();
  await expect(custom).toContainText('Example: K-815');
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await expect(dialog.getByRole('row', { name: /2 Tarif .*gold/u })).toBeVisible();
  await expectAccessible(desk);

  await dialog.getByLabel('Plan name').selectOption('No column');
  await dialog.getByLabel('Plan', { exact: true }).selectOption('Professional');
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await expect(dialog.getByRole('status')).toContainText('2 valid rows.');
  await dialog.getByRole('button', { name: 'Import 2 licenses' }).click();
  await expect(dialog.getByRole('status')).toHaveText('2 licenses imported.');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const rows = desk.getByRole('rowgroup').getByRole('row');
  await expect(rows).toContainText(['Acme', 'Ústav; s. p.']);
  await expect(rows).toContainText(['professional', 'professional']);
  await desk.getByRole('searchbox').fill('k-815');
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('K-815');
});

test('the names of a file whose encoding is a guess are shown to be checked', async ({ desk }) => {
  const dialog = await openImport(desk);
  const rows = Array.from({ length: 9 }, (_, row) => `Acme ${row};1`);
  await dialog
    .getByLabel('CSV file')
    .setInputFiles(csv(`Inhaber;Notizen\n${rows.join('\n')}\nWeber;S\xfcd\nM\xfcller;2\n`, 'latin1'));
  await expect(dialog.getByRole('note')).toContainText('read as Windows-1252');
  await expect(dialog.getByText('Example: Müller')).toBeVisible();
  await expect(dialog.getByText('Example: Süd')).toBeVisible();
  await expectAccessible(desk);
});

test('the file of faulty rows is imported again without its own columns', async ({ desk }) => {
  const dialog = await openImport(desk);
  await dialog
    .getByLabel('CSV file')
    .setInputFiles(csv('line,error,holder,plan,KST\n3,plan: plan gold not found,Acme,standard,K-1\n'));
  const custom = dialog.getByRole('group', { name: 'Custom fields' });
  await expect(custom.getByLabel('line')).not.toBeChecked();
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await dialog.getByRole('button', { name: 'Import 1 license' }).click();
  await expect(dialog.getByRole('status')).toHaveText('1 license imported.');
  const listed = await desk.request.get('/admin/api/licenses/');
  expect(await listed.json()).toMatchObject({ items: [{ holder: 'Acme', custom_fields: { KST: 'K-1' } }] });
});

test('all custom fields of an exported file are imported under their names', async ({ desk }) => {
  const fields = Object.fromEntries(Array.from({ length: 19 }, (_, index) => [`Field ${index}`, 'x']));
  await issueLicense(desk, { holder: 'First', custom_fields: { State: 'Bavaria', ...fields } });
  await issueLicense(desk, { holder: 'Second', custom_fields: { Region: 'South', days: '12' } });
  const exported = await desk.request.get('/admin/api/licenses/export/');
  const rows = (await exported.text()).replaceAll(/^[0-9A-Z-]{29},/gmu, ',');
  await desk.goto('/#/licenses');
  await chooseAction(desk, 'Import from CSV');
  const dialog = desk.getByRole('dialog', { name: 'Import from CSV' });
  await dialog.getByLabel('CSV file').setInputFiles(csv(rows.replaceAll(/First|Second/gu, '$& again')));
  const custom = dialog.getByRole('group', { name: 'Custom fields' });
  await expect(custom.getByRole('checkbox', { checked: true })).toHaveCount(22);
  await expect(custom.getByText('Field name: ')).toHaveText(['Field name: days', 'Field name: State']);
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await dialog.getByRole('button', { name: 'Import 2 licenses' }).click();
  await expect(dialog.getByRole('status')).toHaveText('2 licenses imported.');
  const listed = await desk.request.get('/admin/api/licenses/?search=again&sort=holder');
  expect(await listed.json()).toMatchObject({
    items: [
      { custom_fields: { State: 'Bavaria', ...fields } },
      { custom_fields: { Region: 'South', days: '12' } },
    ],
  });
});

test('columns whose headings have the same beginning become different custom fields', async ({ desk }) => {
  const dialog = await openImport(desk);
  const heading = 'A very long column heading that goes on and on for more than sixty characters';
  const file = csv(`Holder,${heading} (building A),${heading} (building B),KST,kst\nAcme,A-1,B-1,K-1,K-2\n`);
  await dialog.getByLabel('CSV file').setInputFiles(file);
  const custom = dialog.getByRole('group', { name: 'Custom fields' });
  const first = heading.slice(0, 60).trim();
  const second = `${heading.slice(0, 58).trim()} 2`;
  const names = custom.getByText('Field name: ');
  await expect(names).toHaveText([`Field name: ${first}`, `Field name: ${second}`, 'Field name: kst 2']);
  await expectAccessible(desk);
  await custom.getByLabel('KST', { exact: true }).uncheck();
  await expect(names).toHaveCount(2);
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await dialog.getByRole('button', { name: 'Import 1 license' }).click();
  await expect(dialog.getByRole('status')).toHaveText('1 license imported.');
  const listed = await desk.request.get('/admin/api/licenses/');
  expect(await listed.json()).toMatchObject({
    items: [{ custom_fields: { [first]: 'A-1', [second]: 'B-1', kst: 'K-2' } }],
  });
});

test('a long cell takes one line as the example of its column', async ({ desk }) => {
  const dialog = await openImport(desk);
  await dialog
    .getByLabel('CSV file')
    .setInputFiles(csv(`Holder,Contract\nAcme,${'long words '.repeat(80)}\n`));
  const example = dialog.getByRole('group', { name: 'Custom fields' }).getByText('Example: long');
  const lines = await example.evaluate(
    (element) => element.clientHeight / Number.parseFloat(getComputedStyle(element).lineHeight),
  );
  expect(Math.round(lines)).toBe(1);
});

test(
  'rows with errors are left out, and saved with their reasons; so are the new keys',
  { tag: '@browser' },
  async ({ desk }) => {
    const dialog = desk.getByRole('dialog', { name: 'Import from CSV' });
    async function saved(name: string): Promise<string> {
      const downloaded = desk.waitForEvent('download');
      await dialog.getByRole('button', { name }).click();
      return readFile(await (await downloaded).path(), 'utf8');
    }
    const rows = ['Acme,', ',nowhere', ...Array.from({ length: 496 }, (_, index) => `Customer ${index},`)];
    await task(desk, 'import 500 licenses with 3 bad lines', async () => {
      await goTo(desk, 'Licenses');
      await desk.getByRole('button', { name: 'Import licenses from CSV' }).click();
      const file = csv(['holder,plan', ...rows, ',standard', 'Last,gold'].join('\n'));
      await dialog.getByLabel('CSV file').setInputFiles(file);
      await dialog.getByRole('button', { name: 'Check all rows' }).click();
      // All errors of the row at once.
      await expect(dialog.getByRole('row', { name: /3 holder must not be empty/u })).toBeVisible();
      await expect(dialog.getByRole('row', { name: /3 plan .*nowhere/u })).toBeVisible();
      expect(await saved('Save rows with errors')).toContain(
        '3,holder: must not be empty; plan: plan nowhere not found,,nowhere',
      );
      await expectAccessible(desk);
      await dialog.getByRole('button', { name: 'Import 497, skip 3' }).click();
      await expect(dialog.getByRole('status').first()).toHaveText('497 licenses imported. 3 rows skipped.');
      await expectAccessible(desk);
      const keys = await saved('Save license keys');
      expect(keys).toMatch(/^\ufefflicense_key,holder,plan\r\n[0-9A-Z-]{29},Acme,\r\n/u);
      await dialog.getByRole('button', { name: 'Done' }).click();
      await expect(desk.getByText('497 licenses', { exact: true })).toBeVisible();
    });
  },
);

test(
  'filtered licenses are exported as CSV; an interrupted export saves no file',
  { tag: '@browser' },
  async ({ desk }) => {
    await issueLicense(desk, { holder: 'Acme "Robotics"', plan: 'professional' });
    await issueLicense(desk, { holder: '=cmd()', plan: 'professional', notes: 'first "line"\nsecond' });
    await issueLicense(desk, { holder: 'Somebody else' });
    const dialog = desk.getByRole('dialog', { name: 'Export as CSV' });
    const download = await task(desk, 'export the licenses of a plan', async () => {
      await goTo(desk, 'Licenses');
      await desk.getByRole('combobox', { name: 'Plan' }).selectOption('professional');
      await chooseAction(desk, 'Export as CSV');
      await expect(dialog).toContainText('All licenses that match the current filters: 2 licenses.');

      await desk.route('**/licenses/export/*', (route) => route.abort('connectionreset'));
      await dialog.getByRole('button', { name: 'Download CSV' }).click();
      await expect(dialog.getByRole('alert')).toContainText('The server did not respond.');
      await desk.unroute('**/licenses/export/*');

      const downloaded = desk.waitForEvent('download');
      await dialog.getByRole('button', { name: 'Download CSV' }).click();
      return downloaded;
    });
    expect(download.suggestedFilename()).toBe('licenses.csv');
    const [head, first, second, ...rest] = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(head).toMatch(/^\ufefflicense_key,holder,email,/u);
    expect(first).toContain(",'=cmd(),");
    expect(first).toContain('"first ""line""\nsecond"');
    expect(second).toContain('"Acme ""Robotics"""');
    expect(rest).toEqual(['']);
    await expect(dialog.getByRole('status')).toHaveText('2 rows exported.');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await expect(dialog).toHaveCount(0);
  },
);

test(
  'an import whose reply is lost tells its outcome, and runs once',
  { tag: '@browser' },
  async ({ desk }) => {
    const dialog = await checkImport(desk);
    const run = '**/licenses/import/run/';
    // The first request does not reach the server; of the second one, the reply is lost.
    await desk.route(run, (route) => route.abort());
    await dialog.getByRole('button', { name: 'Import 1 license' }).click();
    await expect(dialog.getByRole('alert')).toContainText('The server did not respond');
    await expect(dialog.getByRole('button', { name: 'Choose another file' })).toHaveCount(0);
    await desk.unroute(run);
    await desk.route(run, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await expect(dialog.getByRole('status')).toHaveText('1 license imported.');
    await expect(dialog.getByRole('button', { name: 'Choose another file' })).toHaveCount(0);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const listed = await desk.request.get('/admin/api/licenses/');
    expect(((await listed.json()) as { items: unknown[] }).items).toHaveLength(1);
  },
);

test(
  'an import can be left while the server does not answer, but not while it runs',
  { tag: '@browser' },
  async ({ desk }) => {
    const dialog = await checkImport(desk);
    let isReachable = false;
    await desk.route('**/licenses/import/run/', (route) => route.abort());
    await desk.route('**/licenses/import/status/*', async (route) => {
      if (!isReachable) return route.abort();
      const response = await route.fetch();
      const status = (await response.json()) as object;
      return route.fulfill({ json: { ...status, state: 'running' } });
    });
    const outcome = dialog.getByRole('status');
    const dismiss = dialog.getByRole('button', { name: 'Dismiss' });
    await dialog.getByRole('button', { name: 'Import 1 license' }).click();
    await expect(outcome).toContainText('The server has not answered.');
    isReachable = true;
    await expect(outcome).toContainText('0 of 1 row');
    await dismiss.click();
    isReachable = false;
    await expect(outcome).toContainText('check the licenses before you import the file again');
    await dismiss.click();
    await expect(dialog).toHaveCount(0);
  },
);

test(
  'on a German page, files are as a German spreadsheet reads them, and are imported again',
  { tag: '@browser' },
  async ({ desk }) => {
    const holder = 'Müller; Söhne, ,=1';
    await issueLicense(desk, { holder, notes: 'eins\n-zwei' });
    await issueLicense(desk, { holder: 'Weber' });
    await desk.getByLabel('Language').selectOption('Deutsch');
    async function saved(click: () => Promise<void>): Promise<Buffer> {
      const downloaded = desk.waitForEvent('download');
      await click();
      return readFile(await (await downloaded).path());
    }
    await desk.goto('/#/audit');
    const audit = await saved(() => desk.getByRole('link', { name: 'CSV herunterladen' }).click());
    expect(audit.toString()).toMatch(/^\ufeffid;at;actor_kind;/u);

    await desk.goto('/#/licenses');
    const rows = desk.getByRole('rowgroup').getByRole('row');
    await rows.filter({ hasText: 'Müller' }).getByRole('checkbox').check();
    const selected = await saved(() => desk.getByRole('button', { name: 'Exportieren' }).click());
    expect(selected.toString()).toMatch(
      /^\ufefflicense_key;holder;[^\r]+\r\n[0-9A-Z-]+;"Müller; Söhne, ,'=1";/u,
    );
    async function choose(name: string): Promise<void> {
      await desk.getByRole('button', { name: 'Weitere Aktionen' }).click();
      await desk.getByRole('menuitem', { name }).click();
    }
    await choose('Als CSV exportieren');
    const exporting = desk.getByRole('dialog', { name: 'Als CSV exportieren' });
    const buffer = await saved(() => exporting.getByRole('button', { name: 'CSV herunterladen' }).click());
    expect(buffer.toString()).toMatch(/^\ufefflicense_key;holder;email;/u);
    await exporting.getByRole('button', { name: 'Fertig' }).click();

    await choose('Aus CSV importieren');
    const dialog = desk.getByRole('dialog', { name: 'Aus CSV importieren' });
    await dialog.getByLabel('CSV-Datei').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
    await dialog.getByRole('button', { name: 'Alle Zeilen prüfen' }).click();
    await expect(dialog.getByRole('cell', { name: 'license_key' })).toHaveCount(2);
    const faulty = await saved(() => dialog.getByRole('button', { name: 'Fehlerhafte Zeilen' }).click());
    expect(faulty.toString()).toMatch(/^\ufeffline;error;license_key;holder;/u);
    await dialog.getByLabel('Vorhandener Lizenzschlüssel').selectOption('Keine Spalte');
    await dialog.getByRole('button', { name: 'Alle Zeilen prüfen' }).click();
    await dialog.getByRole('button', { name: '2 Lizenzen importieren' }).click();
    await expect(dialog.getByRole('status')).toContainText('2 Lizenzen importiert.');
    const listed = await desk.request.get('/admin/api/licenses/?search=sohne');
    const expected = { holder, notes: 'eins\n-zwei' };
    expect(await listed.json()).toMatchObject({ items: [expected, expected] });
  },
);
