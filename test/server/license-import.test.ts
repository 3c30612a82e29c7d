// A file of licenses, from its upload to the last of them.
import { readdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ListedLicense } from '#server/features/licenses/license-contract.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import { adminSuccess, callAdmin, newLicense, unique } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { httpCall, jsonCall } from '../helpers/raw-http.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure, expectSuccess } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';
import { adminContract } from '#server/contract.ts';

const START = Date.UTC(2033, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });
const UNKNOWN = '4bd4a6c8-0d0a-4cf2-9d0c-2a6f0c1d2e3f';

interface Csv {
  import_id: string;
  columns: string[];
  sample: string[][];
  rows: number;
  encoding: string;
}

const post = (body: string | Buffer) =>
  jsonCall(`${server.adminOrigin}/admin/api/licenses/import/`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${server.runtimeSecret}`, 'content-type': 'text/csv' },
  });

async function upload(body: string | Buffer): Promise<Csv> {
  const reply = await post(body);
  expectSuccess(adminContract.uploadImport, reply);
  return reply.body as Csv;
}

/** Uploads, without the results of imports. */
const files = () =>
  readdirSync(join(server.dataDir, 'imports'))
    .filter((name) => /^[^.]+\.csv$/u.test(name))
    .toSorted();
async function result(import_id: string, part: 'faulty' | 'keys'): Promise<string[]> {
  const address = `${server.adminOrigin}/admin/api/licenses/import/result/?import_id=${import_id}&part=${part}`;
  const reply = await fetch(address, { headers: { authorization: `Bearer ${server.runtimeSecret}` } });
  expect(reply.headers.get('content-type')).toContain('text/csv');
  return (await reply.text()).trimEnd().split('\r\n');
}
const byProduct = async (product: string) => (await server.admin.listLicenses({ product })).items;
const countLicenses = async () =>
  Number((await selectRows(server.dataDir, 'SELECT count(*) AS count FROM licenses'))[0].count);

beforeAll(async () => {
  await upload('holder\nx\n');
});
beforeEach(async () => {
  for (const name of files())
    await callAdmin(server, 'cancelImport', { import_id: name.replace(/\.csv$/u, '') });
});

describe('an uploaded file', () => {
  it('is shown as it was understood, and kept for its owner only', async () => {
    const lines = [
      'Name,E-mail,',
      ...Array.from({ length: 7 }, (_, row) => `Holder ${row},h${row}@example.com`),
    ];
    const { import_id, ...shown } = await upload(lines.join('\r\n'));
    expect(shown).toEqual({
      ok: true,
      columns: ['Name', 'E-mail', 'Column 3'],
      sample: Array.from({ length: 5 }, (_, row) => [`Holder ${row}`, `h${row}@example.com`]),
      rows: 7,
      encoding: 'utf-8',
    });
    expect(files()).toEqual([`${import_id}.csv`]);
    expect(statSync(join(server.dataDir, 'imports', `${import_id}.csv`)).mode & 0o777).toBe(0o600);
    expect(await adminSuccess(server, 'showImport', { import_id })).toEqual({
      ok: true,
      import_id,
      state: 'uploaded',
      done: 0,
      total: 7,
      skipped: 0,
      errors: [],
      error_count: 0,
    });
  });

  it.each([
    ['commas', 'a,b\n1,2\n'],
    ['semicolons', 'a;b\n1;2\n'],
    ['tabs', 'a\tb\n1\t2\n'],
    ['a byte order mark', '\ufeffa,b\n1,2\n'],
    ['a byte order mark and quotes', '\ufeff"a","b"\n"1","2"\n'],
    ['line ends of Windows', 'a,b\r\n1,2\r\n'],
    ['line ends of old Macs', 'a,b\r1,2\r'],
    ['no end of its last line', 'a,b\n1,2'],
    ['empty lines', '\n\na,b\n\n1,2\n,\n\n'],
    ['the other delimiters inside quotes', '"a";"b"\n"1";"2"\n'],
    ['spaces around its names', ' a , b \n1,2\n'],
    ['its separator in the first line', 'sep=;\r\na;b\r\n1;2\r\n'],
    ['its separator in the first line, after a byte order mark', '\ufeffSEP=,\r\na,b\r\n1,2\r\n'],
    ['a tab as such a separator', 'sep=\t\na\tb\n1\t2\n'],
    ['a tab named as such a separator', 'Sep=\\t\ra\tb\r1\t2\r'],
    ['such a separator against the first impression', 'sep=;\n"a";"b"\n"1";"2"\n'],
  ])('may be written with %s', async (_name, text) => {
    expect(await upload(text)).toMatchObject({ columns: ['a', 'b'], sample: [['1', '2']], rows: 1 });
  });

  it('keeps what is quoted together', async () => {
    const { sample } = await upload('a,b\n"x, ""y""","two\r\nlines"\n');
    expect(sample).toEqual([['x, "y"', 'two\nlines']]);
  });

  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  // Excel's "Unicode text", and the order of bytes that other programs write.
  it.each([
    ['least significant byte first', utf16('\ufeffName\tCity\r\nM\u00fcller\t\u6771\u4eac\r\n')],
    ['most significant byte first', utf16('\ufeffName\tCity\r\nM\u00fcller\t\u6771\u4eac\r\n').swap16()],
  ])('may be written in UTF-16, %s', async (_name, bytes) => {
    const { sample, encoding } = await upload(bytes);
    expect({ sample, encoding }).toEqual({ sample: [['M\u00fcller', '\u6771\u4eac']], encoding: 'utf-16' });
  });

  it('is read as Windows-1252 if it is not UTF-8, which every reply says; rows with other letters are its sample', async () => {
    const rows = [...Array.from({ length: 6 }, (_, row) => `Acme ${row};`), 'M\xfcller \x96 S\xf6hne;5 \x80'];
    const { import_id, ...shown } = await upload(Buffer.from(`Kunde;Preis\n${rows.join('\n')}\n`, 'latin1'));
    expect(shown).toMatchObject({ encoding: 'windows-1252', rows: 7 });
    expect(shown.sample).toHaveLength(5);
    expect(shown.sample[0]).toEqual(['Müller – Söhne', '5 €']);
    expect(shown.sample[1]).toEqual(['Acme 0', '']);
    const product = unique('product');
    const recipe = { import_id, mapping: { holder: 'Kunde' }, defaults: { product } };
    expect(await adminSuccess(server, 'previewImport', recipe)).toMatchObject({ encoding: 'windows-1252' });
    await adminSuccess(server, 'runImport', recipe);
    expect((await byProduct(product))[0]?.holder).toBe('Müller – Söhne');
  });

  it('is not UTF-8 in any of its pieces if only the last one is not', async () => {
    const text = `Name\n${'Müller\n'.repeat(10_000)}`;
    const mixed = await upload(Buffer.concat([Buffer.from(text), Buffer.from('M\xfcller\n', 'latin1')]));
    expect(mixed).toMatchObject({
      encoding: 'windows-1252',
      sample: Array.from({ length: 5 }, () => ['MÃ¼ller']),
    });
    expect(await upload(text)).toMatchObject({ encoding: 'utf-8', rows: 10_000 });
  });

  it.each<[string, string | Buffer, RegExp]>([
    ['is empty', '', /has no rows/u],
    ['has nothing but names', 'a,b\r\n', /has no rows/u],
    ['has nothing but its separator and names', 'sep=;\na;b\n', /has no rows/u],
    [
      'is a program or a picture',
      Buffer.from('a\nM\xfcller\0\n', 'latin1'),
      /not UTF-8; save it as "CSV UTF-8"/u,
    ],
    ['has bytes that Windows-1252 does not have', Buffer.from('a\nM\xfcl\x81r\n', 'latin1'), /not UTF-8/u],
    ['is UTF-16 without a byte order mark', utf16('a,b\n1,2\n'), /not UTF-8/u],
    ['is UTF-16 that ends within a letter', utf16('\ufeffa,b\n1,2').subarray(0, -1), /not valid UTF-16/u],
    [
      'has the byte order mark of UTF-8 and ends within a letter',
      Buffer.concat([Buffer.from('\ufeffa\nb'), Buffer.of(0xc3)]),
      /not UTF-8/u,
    ],
    ['names two columns alike', 'a,b,a\n1,2,3\n', /two columns are named a/u],
    ['opens a quote and never closes it', 'a,b\n1,2\n1,"2\n3,4\n', /line \d: a quote is not closed/u],
    ['has text after a closing quote', 'a,b\n1,2\n1,"2"x\n', /line 3: .*closing quote/u],
    ['has a row without end', `a,b\n"${'x\n'.repeat(50_000)}",2\n`, /longer than 64 KiB/u],
    ['has too many rows', `a\n${'x\n'.repeat(50_001)}`, /more than 50000 rows/u],
  ])('is refused if it %s', async (_name, body, message) => {
    const before = files();
    const reply = await post(body);
    expectFailure(reply, 'invalid_request');
    expect(reply.body.message).toMatch(message);
    expect(reply.body.details).toMatchObject([{ path: 'file', reason: expect.any(String) as string }]);
    expect(files()).toEqual(before);
  });

  it('is refused beyond 20 MB', async () => {
    expectFailure(await post(Buffer.alloc(20 * 1_048_576 + 1, 'x')), 'payload_too_large');
  });

  it('says so if it cannot be stored, as where the folder is a link to a disk that is not mounted', async () => {
    const folder = join(server.dataDir, 'imports');
    renameSync(folder, `${folder}.kept`);
    onTestFinished(() => {
      rmSync(folder);
      renameSync(`${folder}.kept`, folder);
    });
    symlinkSync(join(server.dataDir, 'unmounted'), folder);
    const reply = await post('holder\nx\n');
    expectFailure(reply, 'unavailable');
    expect(reply.body).toMatchObject({
      message: expect.stringContaining('the file cannot be stored in the data directory') as string,
    });
  });

  it('is forgotten after a day', async () => {
    const { import_id } = await upload('a\n1\n');
    const yesterday = Date.now() / 1000 - 86_400 - 60;
    utimesSync(join(server.dataDir, 'imports', `${import_id}.csv`), yesterday, yesterday);
    clock.advance(86_400_001);
    await upload('a\n1\n');
    expect(files()).not.toContain(`${import_id}.csv`);
    expectFailure(await callAdmin(server, 'showImport', { import_id }), 'import_not_found');
  });

  it('is not found once its file was removed after a day', async () => {
    const { import_id } = await upload('a\n1\n');
    const yesterday = Date.now() / 1000 - 86_400 - 60;
    utimesSync(join(server.dataDir, 'imports', `${import_id}.csv`), yesterday, yesterday);
    // By the next upload, or the daily retention.
    await upload('a\n1\n');
    const request = { import_id, mapping: { holder: 'a' } };
    for (const call of ['previewImport', 'runImport'] as const)
      expectFailure(await callAdmin(server, call, request), 'import_not_found');
    for (const call of ['showImport', 'cancelImport'] as const)
      expectFailure(await callAdmin(server, call, { import_id }), 'import_not_found');
  });
});

describe('a preview', () => {
  it('finds every error with its position', async () => {
    const taken = (await newLicense(server)).license_key;
    const fresh = generateLicenseKey();
    const { plan } = await server.admin.createPlan({ name: unique('bound'), product: 'imager' });
    const archived = await server.admin.createPlan({ name: unique('archived') });
    await server.admin.updatePlan({ id: archived.plan.id, archived: true });
    const before = await countLicenses();
    const lines = [
      'Who,Mail,Plan,Product,Ends,Days,Key',
      'Good,a@example.com,professional,,2040-02-29,,',
      ',,,,,,x',
      'Mail,nobody,,,,,',
      'Plan,,nowhere,,,,',
      `Plan,,${archived.plan.name},,,,`,
      'Plan,,No Slug,,,,',
      `Product,,${plan.name},carver,,,`,
      'Ends,,,,31.02.2040,,',
      'Ends,,,,2041-02-29,,',
      'Ends,,,,1960-01-01,,',
      'Days,,,,,ten,',
      'Days,,,,,0,',
      'Both,,,,2040-01-01,5,',
      `Key,,,,,,${taken}`,
      `Key,,,,,,${taken.slice(0, -1)}`,
      `Key,,,,,,${fresh}`,
      `Key,,,,,,${fresh.toLowerCase()}`,
      '"Two\nlines",,,,,,',
      'Cells,,,,,,,,,,x',
      `${'x'.repeat(201)},,,,,,`,
      `Mail,${'x'.repeat(250)}@example.com,,,,,`,
    ];
    const { import_id, rows } = await upload(lines.join('\n'));
    const mapping = {
      holder: 'Who',
      email: 'Mail',
      plan: 'Plan',
      product: 'Product',
      expires_at: 'Ends',
      days: 'Days',
      license_key: 'Key',
    };
    const found = await adminSuccess(server, 'previewImport', { import_id, mapping });
    expect(found).toMatchObject({ rows, valid: 2, error_count: found.errors.length });
    const said = (found.errors as { line: number; column: string; message: string }[]).map(
      ({ line, column, message }) => `${line} ${column}: ${message}`,
    );
    expect(said).toEqual([
      '3 Who: must not be empty',
      '3 Key: invalid license key (checksum mismatch)',
      '4 Mail: must be an email address',
      '5 Plan: plan nowhere not found',
      `6 Plan: plan ${archived.plan.name} is archived`,
      '7 Plan: must be 1 to 64 lowercase letters, digits or hyphens',
      `8 Product: plan ${plan.name} is for imager, not for carver`,
      ...[9, 10].map(
        (line) =>
          `${line} Ends: must be a date such as 2027-01-31 or 31.01.2027, or a time with offset such as 2027-01-31T12:00:00Z`,
      ),
      expect.stringMatching(/^11 Ends: /u),
      '12 Days: must be a whole number of days, 1 to 36500',
      '13 Days: must be a whole number of days, 1 to 36500',
      '14 Days: give days or expires_at, not both',
      '15 Key: belongs to an existing license',
      '16 Key: invalid license key (checksum mismatch)',
      '18 Key: occurs twice in the file',
      expect.stringMatching(/^19 Who: contains /u),
      '21 null: has 11 cells for 7 columns',
      '22 Who: must have at most 200 characters',
      '23 Mail: must have at most 254 characters',
    ]);
    const rules = (found.errors as { line: number; reason?: string; values?: object }[]).map(
      ({ line, reason, values }) => [line, reason, ...(values ? [values] : [])],
    );
    const term = { min: 1, max: 36_500 };
    expect(rules).toEqual([
      [3, 'empty'],
      [3, 'not_a_license_key'],
      [4, 'not_an_email'],
      [5, 'plan_not_found', { plan: 'nowhere' }],
      [6, 'plan_archived', { plan: archived.plan.name }],
      [7, 'not_a_slug'],
      [8, 'other_product', { plan: plan.name, product: 'imager' }],
      [9, 'not_a_date'],
      [10, 'not_a_date'],
      [11, 'not_in_calendar'],
      [12, 'not_in_range', term],
      [13, 'not_in_range', term],
      [14, 'only_one', { fields: ['days', 'expires_at'] }],
      [15, 'key_in_use'],
      [16, 'not_a_license_key'],
      [18, 'repeated_key'],
      [19, 'hidden_character', { character: 'U+000A' }],
      [21, 'too_many_cells', { got: 11, max: 7 }],
      [22, 'too_long', { max: 200 }],
      [23, 'too_long', { max: 254 }],
    ]);
    expect(await countLicenses()).toBe(before);
  });

  it('refuses the revoked licenses of an export', async () => {
    const product = unique('product');
    const [kept, revoked] = [await newLicense(server, { product }), await newLicense(server, { product })];
    await server.admin.revokeLicense({ ref: revoked.license_key });
    const { text } = await httpCall(`${server.adminOrigin}/admin/api/licenses/export/?product=${product}`, {
      headers: { authorization: `Bearer ${server.runtimeSecret}` },
    });
    const { import_id } = await upload(text);
    const again = unique('product');
    const recipe = { import_id, mapping: { holder: 'holder' }, defaults: { product: again } };
    const found = await adminSuccess(server, 'previewImport', recipe);
    const message = 'is revoked; leave the row out, because an import issues a valid license';
    expect(found).toMatchObject({
      rows: 2,
      valid: 1,
      errors: [{ column: 'state', message, reason: 'revoked_row' }],
    });
    await server.admin.runImport({ ...recipe, skip_rows: 1 });
    const imported = await byProduct(again);
    expect(imported.map(({ holder }) => holder)).toEqual([kept.holder]);
  });

  it.each([
    ['State', ' Revoked ', false],
    ['state', 'active', true],
    ['Federal state', 'revoked', true],
  ])('of a row with the cell %s: %s', async (column, cell, isValid) => {
    const { import_id } = await upload(`holder,${column}\nA,${cell}\n`);
    const found = await adminSuccess(server, 'previewImport', { import_id, mapping: { holder: 'holder' } });
    expect(found.valid).toBe(isValid ? 1 : 0);
  });

  it.each([
    ['31.12.2040', '2040-12-31'],
    ['1.2.2040', '2040-02-01'],
    ['29.02.2040', '2040-02-29'],
  ])('takes %s for the end of %s', async (written, day) => {
    const { import_id } = await upload(`holder;Ablauf\nA;${written}\n`);
    const product = unique('product');
    const mapping = { holder: 'holder', expires_at: 'Ablauf' };
    await adminSuccess(server, 'runImport', { import_id, mapping, defaults: { product } });
    expect((await byProduct(product))[0]?.expires_at).toBe(`${day}T23:59:59.999Z`);
  });

  it.each(['29.02.2041', '31.04.2040', '0.1.2040', '1.13.2040', '12.31.2040', '31.12.40', '31.12'])(
    'refuses the date %s',
    async (written) => {
      const { import_id } = await upload(`holder;Ablauf\nA;${written}\n`);
      const mapping = { holder: 'holder', expires_at: 'Ablauf' };
      const found = await adminSuccess(server, 'previewImport', { import_id, mapping });
      const message =
        'must be a date such as 2027-01-31 or 31.01.2027, or a time with offset such as 2027-01-31T12:00:00Z';
      expect(found.errors).toEqual([{ line: 2, column: 'Ablauf', message, reason: 'not_a_date' }]);
    },
  );

  it('counts only cells that are not empty beyond the columns', async () => {
    const { import_id } = await upload('sep=;\r\nholder;plan\r\nA;;;; ;\r\nB;;;x;\r\n');
    const found = await adminSuccess(server, 'previewImport', { import_id, mapping: { holder: 'holder' } });
    const message = 'has 5 cells for 2 columns';
    expect(found).toMatchObject({ rows: 2, valid: 1, errors: [{ line: 4, column: null, message }] });
  });

  it('names the first 200 and counts the rest', async () => {
    const { import_id } = await upload(`who,mail\n${'x,y\n'.repeat(250)}`);
    const found = await adminSuccess(server, 'previewImport', {
      import_id,
      mapping: { holder: 'who', email: 'mail' },
    });
    expect(found).toMatchObject({ rows: 250, valid: 0, error_count: 250 });
    expect(found.errors).toHaveLength(200);
  });

  it('refuses a column that the file does not have, as the run does', async () => {
    const { import_id } = await upload('who\nx\n');
    for (const name of ['previewImport', 'runImport'] as const) {
      const reply = await callAdmin(server, name, {
        import_id,
        mapping: { holder: 'who', plan: 'toString' },
      });
      expectFailure(reply, 'invalid_request');
      expect(reply.body.details).toEqual([
        { path: 'mapping.plan', message: 'the file has no column toString' },
      ]);
      expectFailure(
        await callAdmin(server, name, { import_id, mapping: { plan: 'who' } }),
        'invalid_request',
      );
    }
    expect((await server.admin.showImport({ import_id })).state).toBe('uploaded');
  });

  it.each(['previewImport', 'runImport', 'showImport', 'cancelImport'] as const)(
    '%s knows no import that was never uploaded, nor any path',
    async (name) => {
      const mapping = { holder: 'who' };
      expectFailure(await callAdmin(server, name, { import_id: UNKNOWN, mapping }), 'import_not_found');
      expectFailure(
        await callAdmin(server, name, { import_id: '../license-desk', mapping }),
        'invalid_request',
      );
    },
  );
});

describe('a run', () => {
  it('leaves the faulty rows out that the preview found, and hands over those and the new keys', async () => {
    const product = unique('product');
    const { import_id } = await upload(
      'Who;Tier;Mail\nAcme;standard;\n;nowhere;nobody\n"B;1";;b@example.com\n',
    );
    const recipe = {
      import_id,
      mapping: { holder: 'Who', plan: 'Tier', email: 'Mail' },
      defaults: { product },
    };
    const preview = await adminSuccess(server, 'previewImport', recipe);
    expect(preview).toMatchObject({ rows: 3, valid: 2, error_count: 3 });
    expect(await result(import_id, 'faulty')).toEqual([
      'line,error,Who,Tier,Mail',
      '3,Who: must not be empty; Mail: must be an email address; Tier: plan nowhere not found,,nowhere,nobody',
    ]);
    for (const skip_rows of [0, 2]) {
      const refused = await adminSuccess(server, 'runImport', { ...recipe, skip_rows });
      expect(refused).toMatchObject({ state: 'failed', done: 0 });
      expect(await byProduct(product)).toEqual([]);
    }
    const status = await adminSuccess(server, 'runImport', { ...recipe, skip_rows: 1 });
    expect(status).toMatchObject({ state: 'done', done: 3, total: 3, skipped: 1, error_count: 3 });
    const [second, first] = await byProduct(product);
    expect([first?.holder, second?.holder]).toEqual(['Acme', 'B;1']);
    expect(await result(import_id, 'keys')).toEqual([
      'license_key,Who,Tier,Mail',
      `${first?.license_key},Acme,standard,`,
      `${second?.license_key},B;1,,b@example.com`,
    ]);
    expect(await result(import_id, 'faulty')).toHaveLength(2);
  });

  it('hands faulty rows over as JSON with the rules that they break', async () => {
    const { import_id } = await upload('Who,Tier\n"a, ""b""",nowhere\n,standard\n');
    const mapping = { holder: 'Who', plan: 'Tier' };
    const { errors } = await adminSuccess(server, 'previewImport', { import_id, mapping });
    const query = `?import_id=${import_id}&part=faulty&form=json_lines`;
    const reply = await fetch(`${server.adminOrigin}/admin/api/licenses/import/result/${query}`, {
      headers: { authorization: `Bearer ${server.runtimeSecret}` },
    });
    expect(reply.headers.get('content-type')).toBe('application/jsonl');
    const [header, ...rows] = (await reply.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as string[]);
    expect(header).toEqual(['line', 'error', 'Who', 'Tier']);
    expect(rows.map(([line, , ...cells]) => [line, ...cells])).toEqual([
      ['2', 'a, "b"', 'nowhere'],
      ['3', '', 'standard'],
    ]);
    expect(rows.flatMap(([, error]) => JSON.parse(error!) as unknown[])).toEqual(errors);
  });

  it('takes the file of faulty rows again, as often as rows are still faulty', async () => {
    const preview = async (text: string) => {
      const { import_id } = await upload(text);
      const recipe = { import_id, mapping: { holder: 'Who', plan: 'Tier' } };
      await adminSuccess(server, 'previewImport', recipe);
      return (await result(import_id, 'faulty')).join('\r\n');
    };
    const first = await preview('Who,Tier\nAcme,standard\n,nowhere\nB,nowhere\n');
    const second = await preview(first.replace(',,nowhere', ',A,standard'));
    expect(second.split('\r\n')).toEqual(['line,error,Who,Tier', '3,Tier: plan nowhere not found,B,nowhere']);
    expect(await preview(second)).toBe(second.replace('3,', '2,'));
  });

  it('adds columns with other names than those of the file to its faulty rows', async () => {
    const mapping = { holder: 'Who', plan: 'Tier' };
    const custom_fields = { Line: 'line', Fault: 'error' };
    const preview = async (text: string) => {
      const { import_id } = await upload(text);
      await adminSuccess(server, 'previewImport', { import_id, mapping, custom_fields });
      return (await result(import_id, 'faulty')).join('\r\n');
    };
    const first = await preview('Who,line,Tier,error,line (import)\nA,L7,nowhere,E1,x\n');
    expect(first.split('\r\n')).toEqual([
      'line (import) (import),error (import),Who,line,Tier,error,line (import)',
      '2,Tier: plan nowhere not found,A,L7,nowhere,E1,x',
    ]);
    expect(await preview(first)).toBe(first);
  });

  it('keeps its results, also if the file is checked again meanwhile', async () => {
    const rows = Array.from({ length: 800 }, (_, row) => `Holder ${row}`);
    const { import_id } = await upload(['name', ...rows].join('\n'));
    const recipe = { import_id, mapping: { holder: 'name' } };
    const running = server.admin.runImport(recipe);
    const ended = running.then(() => true);
    const previews: Promise<unknown>[] = [];
    do {
      // Refused once the import has ended.
      previews.push(callAdmin(server, 'previewImport', recipe));
    } while (!(await Promise.race([ended, previews.at(-1)?.then(() => false)])));
    expect(await running).toMatchObject({ state: 'done', done: rows.length });
    await Promise.all(previews);
    expect(await result(import_id, 'keys')).toHaveLength(rows.length + 1);
    const faulty = { import_id, part: 'faulty', form: 'csv' } as const;
    expectFailure(await callAdmin(server, 'downloadImportResult', faulty), 'import_not_found');
  });

  it('hands the new keys over in license_key, whatever the columns of the file are called', async () => {
    const text = 'license_key,holder,license_key (file)\nK1,A,K2\n';
    const { import_id } = await upload(text);
    await adminSuccess(server, 'runImport', { import_id, mapping: { holder: 'holder' } });
    const keys = await result(import_id, 'keys');
    expect(keys[0]).toBe('license_key,license_key (file) (file),holder,license_key (file)');
    expect(keys[1]).toMatch(/^[0-9A-Z-]{29},K1,A,K2$/u);
    expect((await upload(keys.join('\n'))).columns).toEqual(keys[0]?.split(','));
  });

  it('hands rows over with semicolons and a byte order mark if asked, and takes them again', async () => {
    const { import_id } = await upload('Who,Tier,Notes\n"x,=1; y",nowhere,"two\nlines"\n');
    const mapping = { holder: 'Who', plan: 'Tier', notes: 'Notes' };
    await adminSuccess(server, 'previewImport', { import_id, mapping });
    const query = `?import_id=${import_id}&part=faulty&separator=semicolon&bom=true`;
    const reply = await fetch(`${server.adminOrigin}/admin/api/licenses/import/result/${query}`, {
      headers: { authorization: `Bearer ${server.runtimeSecret}` },
    });
    const text = Buffer.from(await reply.arrayBuffer()).toString();
    expect(text).toBe(
      `\ufeffline;error;Who;Tier;Notes\r\n2;Tier: plan nowhere not found;"x,'=1; y";nowhere;"two\nlines"\r\n`,
    );
    const { sample } = await upload(text);
    expect(sample[0]?.slice(2)).toEqual(['x,=1; y', 'nowhere', 'two\nlines']);
  });

  it('has no results of a file that was never checked, or was cancelled', async () => {
    const { import_id } = await upload('Who\n""\nx\n');
    const faulty = { import_id, part: 'faulty' };
    expectFailure(await callAdmin(server, 'downloadImportResult', faulty), 'import_not_found');
    await adminSuccess(server, 'previewImport', { import_id, mapping: { holder: 'Who' } });
    await adminSuccess(server, 'cancelImport', { import_id });
    expectFailure(await callAdmin(server, 'downloadImportResult', faulty), 'import_not_found');
  });

  it('hands the cells over as they were in the file, with an apostrophe before a formula', async () => {
    const { import_id } = await upload("Who,Mail\n'=Formel,\n'+1;'=2,nobody\n");
    const recipe = { import_id, mapping: { holder: 'Who', email: 'Mail' } };
    await adminSuccess(server, 'previewImport', recipe);
    await adminSuccess(server, 'runImport', { ...recipe, skip_rows: 1 });
    expect((await result(import_id, 'keys'))[1]).toMatch(/,'=Formel,$/u);
    expect((await result(import_id, 'faulty'))[1]).toMatch(/,'\+1;'=2,nobody$/u);
  });

  it('issues the same licenses as createLicense, and records the actor', async () => {
    const product = unique('product');
    const key = generateLicenseKey();
    const { import_id } = await upload(
      `Who;Mail;Ends;Days;Key\nMüller & Söhne; m@example.com ;2040-02-29;;\n'=Formel;;;30;${key.toLowerCase()}\n`,
    );
    const mapping = { holder: 'Who', email: 'Mail', expires_at: 'Ends', days: 'Days', license_key: 'Key' };
    const defaults = { plan: 'professional', product };
    const status = await adminSuccess(server, 'runImport', { import_id, mapping, defaults });
    expect(status).toEqual({
      ok: true,
      import_id,
      state: 'done',
      done: 2,
      total: 2,
      skipped: 0,
      errors: [],
      error_count: 0,
    });
    const [second, first] = await byProduct(product);
    const common = { plan: 'professional', state: 'issued', issued_at: new Date(START).toISOString() };
    expect(first).toMatchObject({
      ...common,
      holder: 'Müller & Söhne',
      email: 'm@example.com',
      expires_at: '2040-02-29T23:59:59.999Z',
      license_key: expect.stringMatching(/^(?:[0-9A-HJKMNP-TV-Z]{5}-?){5}$/u) as string,
    });
    expect(second).toMatchObject({
      ...common,
      holder: '=Formel',
      email: null,
      license_key: key,
      expires_at: new Date(START + 30 * 86_400_000).toISOString(),
    });
    const { seats_in_use, ...shown } = second as ListedLicense;
    expect((await server.admin.showLicense({ ref: key })).license).toEqual(shown);

    const made = await server.admin.listAudit({ subject: `license:${first?.license_id}` });
    expect(made.items).toMatchObject([{ action: 'license.created', before: null, actor_kind: 'cli' }]);
    expect({ ...(made.items[0]?.after as object), seats_in_use }).toEqual(first);
    const whole = await server.admin.listAudit({ subject: `import:${import_id}` });
    expect(whole.items).toMatchObject([
      { action: 'licenses.imported', after: { licenses: 2, plans: { professional: 2 } } },
    ]);
    expect(files()).toEqual([]);
  });

  it('gives its licenses their notices, like any other', async () => {
    const product = unique('product');
    const { import_id } = await upload('who,days\nx,3\n');
    await server.admin.runImport({
      import_id,
      mapping: { holder: 'who', days: 'days' },
      defaults: { product },
    });
    const { license } = await server.admin.createLicense({ holder: 'x', product, days: 3 });
    const rows = await selectRows(
      server.dataDir,
      `SELECT id, notice_due_at, term, search_text FROM licenses WHERE product = '${product}'`,
    );
    expect(rows).toHaveLength(2);
    expect({ ...rows[0], id: license.license_id }).toEqual({ ...rows[1], id: license.license_id });
  });

  it('of a file with one bad row imports none of it, and can be tried again with another mapping', async () => {
    const product = unique('product');
    const rows = Array.from({ length: 250 }, (_, row) => `Holder ${row},${row === 249 ? 'nobody' : ''}`);
    const { import_id } = await upload(['who,mail', ...rows].join('\n'));
    const request = { import_id, defaults: { product } };
    const failed = await server.admin.runImport({ ...request, mapping: { holder: 'who', email: 'mail' } });
    expect(failed).toMatchObject({
      state: 'failed',
      done: 0,
      total: 250,
      errors: [{ line: 251, column: 'mail', message: 'must be an email address' }],
      error_count: 1,
    });
    expect(await byProduct(product)).toEqual([]);
    expect(await server.admin.runImport({ ...request, mapping: { holder: 'who' } })).toMatchObject({
      state: 'done',
      done: 250,
      errors: [],
    });
    expect((await server.admin.countLicenses({ product })).count).toBe(250);
  });

  it('is done once, however often and at once it is asked for', async () => {
    const product = unique('product');
    const { import_id } = await upload(`who\n${'x\n'.repeat(300)}`);
    const run = () =>
      server.admin.runImport({ import_id, mapping: { holder: 'who' }, defaults: { product } });
    const replies = await Promise.all([run(), run(), run()]);
    replies.push(await run(), await server.admin.cancelImport({ import_id }));
    for (const reply of replies) expect(reply).toMatchObject({ state: 'done', done: 300, total: 300 });
    expect((await server.admin.countLicenses({ product })).count).toBe(300);
    expectFailure(
      await callAdmin(server, 'previewImport', { import_id, mapping: { holder: 'who' } }),
      'invalid_request',
    );
  });

  it('fails if a key is taken between check and import', async () => {
    const product = unique('product');
    const keys = Array.from({ length: 1500 }, () => generateLicenseKey());
    const text = ['key', ...keys].join('\n');
    const run = async () => {
      const { import_id } = await upload(text);
      const mapping = { holder: 'key', license_key: 'key' };
      return { import_id, mapping, defaults: { product } };
    };
    const requests = [await run(), await run()];
    // Both are checked before either is written.
    const replies = await Promise.all(requests.map((request) => server.admin.runImport(request)));
    expect(replies.map(({ state }) => state).toSorted()).toEqual(['done', 'failed']);
    expect(replies.find(({ state }) => state === 'failed')).toMatchObject({
      done: 0,
      errors: expect.arrayContaining([
        { line: 2, column: 'key', message: 'belongs to an existing license', reason: 'key_in_use' },
      ]) as object[],
    });
    expect((await server.admin.countLicenses({ product })).count).toBe(1500);
  });

  it('is stopped by a cancel, which undoes it; reads are answered meanwhile', async () => {
    const product = unique('product');
    const { import_id } = await upload(`who\n${'x\n'.repeat(8000)}`);
    const running = server.admin.runImport({ import_id, mapping: { holder: 'who' }, defaults: { product } });
    let seen = await server.admin.showImport({ import_id });
    while (seen.done === 0 && seen.state !== 'done') seen = await server.admin.showImport({ import_id });
    expect(seen).toMatchObject({ state: 'running', total: 8000 });
    // Nothing of it can be seen before it is done.
    expect(await byProduct(product)).toEqual([]);
    expect(await server.admin.cancelImport({ import_id })).toMatchObject({ state: 'cancelled', done: 0 });
    expect(await running).toMatchObject({ state: 'cancelled' });
    expect(await byProduct(product)).toEqual([]);
    expect((await server.admin.listAudit({ subject: `import:${import_id}` })).items).toEqual([]);
    expect(files()).toEqual([]);
    expect(await server.admin.runImport({ import_id, mapping: { holder: 'who' } })).toMatchObject({
      state: 'cancelled',
    });
    // The one writer is free again.
    await newLicense(server, { product });
  });
});

describe('a restart', () => {
  it('keeps an uploaded file, and never repeats an import', async () => {
    const dataDir = await keptDataDir();
    let own = await startTestServer({ dataDir });
    const { import_id } = await own.admin.uploadImport({ file: new Blob(['who;mail\nx;\ny;\n']) });
    await own.stop();

    own = await startTestServer({ dataDir });
    const mapping = { holder: 'who', email: 'mail' };
    expect(await own.admin.showImport({ import_id })).toMatchObject({ state: 'uploaded', total: 2 });
    expect(await own.admin.runImport({ import_id, mapping })).toMatchObject({ state: 'done' });
    await own.stop();

    own = await startTestServer({ dataDir });
    const done = { state: 'done', done: 2, total: 2 };
    expect(await own.admin.runImport({ import_id, mapping })).toMatchObject(done);
    expect(await own.admin.showImport({ import_id })).toMatchObject(done);
    expect((await own.admin.listLicenses({})).items).toHaveLength(2);
    await own.stop();
  });
});
