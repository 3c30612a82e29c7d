// Custom fields of a license, from the request that sets them to everything that shows them, or must not.
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newBearer,
  newLicense,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const FIELDS = { 'Cost center': '4711', Contact: 'Jürgen Groß' };
const server = sharedServer();

const edit = async (ref: string, custom_fields: Record<string, string | null> | null) =>
  (await adminSuccess(server, 'updateLicense', { ref, custom_fields })).license.custom_fields as unknown;
const found = async (search: string) =>
  (await server.admin.listLicenses({ search })).items.map(({ license_key }) => license_key);

describe('custom fields', () => {
  it('are set with the license, and changed one by one', async () => {
    const { license_key: key, custom_fields } = await newLicense(server, { custom_fields: FIELDS });
    expect(custom_fields).toEqual(FIELDS);
    expect(await edit(key, { Contact: 'Anna' })).toEqual({ 'Cost center': '4711', Contact: 'Anna' });
    // The same name in another case is the same field, with the new spelling in the old place.
    expect(Object.entries((await edit(key, { 'COST CENTER': ' 4712 ', Region: 'EMEA' })) as object)).toEqual([
      ['COST CENTER', '4712'],
      ['Contact', 'Anna'],
      ['Region', 'EMEA'],
    ]);
    expect(await edit(key, { contact: null, 'Never there': null })).toEqual({
      'COST CENTER': '4712',
      Region: 'EMEA',
    });
    await adminSuccess(server, 'updateLicense', { ref: key, notes: 'Nothing about the fields' });
    expect((await server.admin.showLicense({ ref: key })).license.custom_fields).toHaveProperty('Region');
    expect(await edit(key, null)).toEqual({});
    expect((await newLicense(server)).custom_fields).toEqual({});
  });

  const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`Field ${index}`, 'x']));
  it.each([
    [{ ...twenty, more: 'x' }, 'custom_fields: must have at most 20 fields'],
    [{ ['n'.repeat(9000)]: 'x' }, /^custom_fields\.n{60}…: has an invalid name: must have at most 60 char/u],
    [{ ' ': 'x' }, 'custom_fields. : has an invalid name: must not be empty'],
    [{ 'a\nb': 'x' }, 'custom_fields.a b: has an invalid name: contains a line break'],
    [{ 'a\u202eb': 'x' }, /has an invalid name/u],
    [{ a: 'v'.repeat(501) }, 'custom_fields.a: must have at most 500 characters'],
    [{ a: '' }, 'custom_fields.a: must not be empty'],
    [{ a: 'tab\there' }, /^custom_fields\.a: /u],
    [{ a: 'x', A: 'y' }, 'custom_fields.A: is given twice'],
    [{ a: 1 }, 'custom_fields.a: must be text'],
    [{ a: 'x', ['__proto__']: 'x' }, 'custom_fields.__proto__: cannot be the name of a field'],
    [{ [' __proto__ ']: 'x' }, 'custom_fields. __proto__ : cannot be the name of a field'],
    [['a'], 'custom_fields: must be an object'],
  ])('are refused: %j', async (custom_fields, message) => {
    const { license_key: ref } = await newLicense(server);
    for (const reply of [
      await callAdmin(server, 'createLicense', { holder: 'H', custom_fields }),
      await callAdmin(server, 'updateLicense', { ref, custom_fields }),
    ]) {
      expectFailure(reply, 'invalid_request');
      if (typeof message === 'string') expect(reply.body.message).toBe(message);
      else expect(reply.body.message).toMatch(message);
    }
  });

  it('are counted together with those that the license has', async () => {
    const { license_key: ref } = await newLicense(server, { custom_fields: twenty });
    const more = await callAdmin(server, 'updateLicense', { ref, custom_fields: { more: 'x' } });
    expectFailure(more, 'invalid_request');
    expect(more.body.message).toContain('at most 20 custom fields (got 21)');
    expect(await edit(ref, { 'field 0': null, more: 'x' })).toHaveProperty('more');
  });

  it('find the license by their values, and no longer once they are gone', async () => {
    const value = unique('Züri-Projekt');
    const { license_key: key } = await newLicense(server, {
      holder: 'Bergmann',
      custom_fields: { Ref: value },
    });
    expect(await found(value)).toEqual([key]);
    expect(await found(`bergmann ${value.replace('Zü', 'zu')}`)).toEqual([key]);
    await edit(key, { Ref: null });
    expect(await found(value)).toEqual([]);
    // The other fields stay searchable when the holder changes.
    await edit(key, { Ref: value });
    await server.admin.updateLicense({ ref: key, holder: 'Talmann' });
    expect(await found(`talmann ${value}`)).toEqual([key]);
  });

  it('are in the timeline, and for integrators; devices, license files and webhooks never get them', async () => {
    const secret = unique('Only for us');
    const bearer = await newBearer(server);
    const issued = await success(
      server,
      'createLicense',
      { holder: 'Acme', custom_fields: { Margin: secret } },
      bearer,
    );
    const { license_id, license_key } = issued.license;
    const changed = await success(
      server,
      'updateLicense',
      { license_id, custom_fields: { Margin: '9' } },
      bearer,
    );
    expect(changed.license.custom_fields).toEqual({ Margin: '9' });
    await edit(license_key, { Margin: secret });
    const { items } = await server.admin.licenseTimeline({ license: license_key });
    expect(items[0]).toMatchObject({
      name: 'license.updated',
      detail: { before: { custom_fields: { Margin: '9' } }, after: { custom_fields: { Margin: secret } } },
    });
    const activated = await activateDevice(server, issued.license);
    const file = Buffer.from(activated.license_file.split('\n')[1] ?? '', 'base64').toString();
    const renewed = await success(server, 'renew', { license_id, days: 500 }, bearer);
    const authorized = await success(server, 'authorize', { license_key });
    const { items: events } = await server.admin.licenseTimeline({ license: license_key });
    const bodies = events.filter(({ kind }) => kind === 'event');
    expect(bodies.map(({ name }) => name)).toContain('license.renewed');
    for (const shown of [activated, file, renewed, authorized, bodies])
      expect(JSON.stringify(shown)).not.toMatch(/Margin|custom_fields/u);
  });

  it('become columns of the export, and fields again on import', async () => {
    const product = unique('product');
    await newLicense(server, { product, holder: 'A', custom_fields: { 'Cost center': '=1', email: 'x' } });
    await newLicense(server, { product, holder: 'B', notes: 'two\nlines', order_number: 'SO-1' });
    await newLicense(server, { product, holder: 'C', custom_fields: { 'COST CENTER': '4711' } });
    const download = await httpCall(`${server.adminOrigin}/admin/api/licenses/export/?product=${product}`, {
      headers: { authorization: `Bearer ${server.runtimeSecret}` },
    });
    const rows: Record<string, string>[] = parse(download.text, { columns: true });
    const center = Object.keys(rows[0] ?? {}).find((name) => name.toLowerCase() === 'cost center') ?? '';
    expect(rows).toMatchObject([
      { holder: 'C', [center]: '4711' },
      { holder: 'B', [center]: '', order_number: 'SO-1', notes: 'two\nlines' },
      { holder: 'A', [center]: "'=1", 'email (custom field)': 'x' },
    ]);

    const { import_id, columns } = await server.admin.uploadImport({ file: new Blob([download.text]) });
    expect(columns).toContain(center);
    const again = unique('product');
    const recipe = {
      import_id,
      mapping: { holder: 'holder', order_number: 'order_number', notes: 'notes' },
      defaults: { product: again },
    };
    const missing = await callAdmin(server, 'previewImport', {
      ...recipe,
      custom_fields: { Ref: 'Nothing' },
    });
    expectFailure(missing, 'invalid_request');
    expect(missing.body.message).toBe('custom_fields.Ref: the file has no column Nothing');
    const reserved = await callAdmin(server, 'runImport', {
      ...recipe,
      custom_fields: { ['__proto__']: center },
    });
    expectFailure(reserved, 'invalid_request');
    const custom_fields = { 'Cost center': center, Mail: 'email (custom field)' };
    await server.admin.runImport({ ...recipe, custom_fields });
    const { items } = await server.admin.listLicenses({ product: again, sort: 'holder' });
    expect(items).toMatchObject([
      { holder: 'A', custom_fields: { 'Cost center': '=1', Mail: 'x' }, notes: null },
      { holder: 'B', custom_fields: {}, notes: 'two\nlines', order_number: 'SO-1' },
      { holder: 'C', custom_fields: { 'Cost center': '4711' } },
    ]);
    expect(items[1]?.custom_fields).toEqual({});
  });

  it('have different columns, whatever their names are', async () => {
    const product = unique('product');
    const custom_fields = { State: '1', 'STATE (custom field)': '2' };
    await newLicense(server, { product, holder: 'A', custom_fields });
    const download = await httpCall(`${server.adminOrigin}/admin/api/licenses/export/?product=${product}`, {
      headers: { authorization: `Bearer ${server.runtimeSecret}` },
    });
    const [row]: Record<string, string>[] = parse(download.text, { columns: true });
    expect(row).toMatchObject({ 'State (custom field)': '1', 'STATE (custom field) (custom field)': '2' });
    const { columns } = await server.admin.uploadImport({ file: new Blob([download.text]) });
    expect(columns).toEqual(Object.keys(row ?? {}));
  });

  const importWith = async (columns: readonly string[], row: readonly string[]) => {
    const text = `holder,${columns.join(',')}\nA,${row.join(',')}\n`;
    const { import_id } = await server.admin.uploadImport({ file: new Blob([text]) });
    const custom_fields = Object.fromEntries(columns.map((column) => [column, column]));
    const product = unique('product');
    const mapping = { holder: 'holder' };
    return { product, recipe: { import_id, mapping, custom_fields, defaults: { product } } };
  };
  const fieldColumns = (count: number) => Array.from({ length: count }, (_, index) => `Field ${index}`);

  it('of an import may be more than those of one license', async () => {
    const columns = fieldColumns(400);
    const cells = columns.map((_, index) => (index % 20 === 3 ? `v${index}` : ''));
    const { product, recipe } = await importWith(columns, cells);
    await adminSuccess(server, 'runImport', recipe);
    const { items } = await server.admin.listLicenses({ product });
    const given = columns.map((column, index) => [column, cells[index]] as const);
    expect(items[0]?.custom_fields).toEqual(Object.fromEntries(given.filter(([, cell]) => cell !== '')));
  });

  it('of an import are limited, and so are those of each row', async () => {
    const many = fieldColumns(401);
    const refused = await callAdmin(server, 'previewImport', (await importWith(many, many)).recipe);
    expectFailure(refused, 'invalid_request');
    expect(refused.body.message).toBe('custom_fields: must have at most 400 fields');
    const columns = fieldColumns(21);
    const preview = await adminSuccess(server, 'previewImport', (await importWith(columns, columns)).recipe);
    const message = 'has 21 custom fields; a license can have at most 20';
    expect(preview).toMatchObject({
      valid: 0,
      errors: [{ line: 2, column: null, message, reason: 'too_many_fields', values: { got: 21, max: 20 } }],
    });
  });

  it('of an imported row that are wrong are reported with their column', async () => {
    const { import_id } = await server.admin.uploadImport({
      file: new Blob([`holder,Center\nA,${'x'.repeat(501)}\nB,ok\n`]),
    });
    const custom_fields = { 'Cost center': 'Center' };
    expect(
      await server.admin.previewImport({ import_id, mapping: { holder: 'holder' }, custom_fields }),
    ).toMatchObject({
      valid: 1,
      errors: [{ line: 2, column: 'Center', message: 'must have at most 500 characters' }],
    });
  });
});
