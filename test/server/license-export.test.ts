import { parse } from 'csv-parse/sync';
import { beforeAll, expect, it } from 'vitest';
import { activateDevice, callAdmin, newLicense, unique } from '../helpers/contract-calls.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const MANY = 450;
const server = sharedServer();

/** More than two pages. */
beforeAll(async () => {
  const lines = Array.from({ length: MANY }, (_, number) => `Holder ${number},bulk`);
  const { import_id } = await server.admin.uploadImport({
    file: new Blob([['holder,product', ...lines].join('\n')]),
  });
  await server.admin.runImport({ import_id, mapping: { holder: 'holder', product: 'product' } });
});

const download = (query: string) =>
  httpCall(`${server.adminOrigin}/admin/api/licenses/export/${query}`, {
    headers: { authorization: `Bearer ${server.runtimeSecret}` },
  });

async function exported(query: string): Promise<Record<string, string>[]> {
  const reply = await download(query);
  expect(reply.status).toBe(200);
  return parse(reply.text, { columns: true, record_delimiter: '\r\n' });
}

it('is a CSV file of all that administrators need to know of a license', async () => {
  const product = unique('product');
  const license = await newLicense(server, {
    holder: '=HYPERLINK("https://evil.example"), "Müller" & Söhne',
    email: 'a@example.com',
    plan: 'professional',
    product,
  });
  await activateDevice(server, license);
  const reply = await download(`?product=${product}`);
  expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(reply.headers.get('content-disposition')).toBe('attachment; filename="licenses.csv"');
  expect(reply.text).toBe(
    `license_key,holder,email,product,plan,state,issued_at,expires_at,devices,max_devices,order_number,notes\r\n` +
      `${license.license_key},"'=HYPERLINK(""https://evil.example""), ""Müller"" & Söhne",a@example.com,` +
      `${product},professional,active,${license.issued_at},${license.expires_at},1,5,,\r\n`,
  );
});

it('contains every license once, newest first, over all pages', async () => {
  const holders = (await exported('?product=bulk')).map(({ holder }) => holder);
  expect(holders).toEqual(Array.from({ length: MANY }, (_, number) => `Holder ${MANY - 1 - number}`));
});

it('leaves unlimited values empty, and an empty list has only a header', async () => {
  const product = unique('product');
  await newLicense(server, { plan: 'enterprise', product });
  expect(await exported(`?product=${product}`)).toMatchObject([{ max_devices: '', devices: '0', email: '' }]);
  expect((await download('?product=nobody')).text.split('\r\n')).toHaveLength(2);
});

it('takes the filters of the list', async () => {
  const product = unique('product');
  const soon = await newLicense(server, { product, days: 3 });
  const revoked = await newLicense(server, { product, holder: 'Vaše Řešení' });
  await server.admin.revokeLicense({ ref: revoked.license_key });
  const keys = async (query: string) =>
    (await exported(`?product=${product}&${query}`)).map(({ license_key }) => license_key);
  expect(await keys('')).toEqual([revoked.license_key, soon.license_key]);
  expect(await keys('state=revoked')).toEqual([revoked.license_key]);
  expect(await keys('expires_within_days=5')).toEqual([soon.license_key]);
  expect(await keys('search=vase%20reseni')).toEqual([revoked.license_key]);
  expect(await keys('plan=trial')).toEqual([]);
  expectFailure(await callAdmin(server, 'exportLicenses', { state: 'nonsense' }), 'invalid_request');
});

it.each([`'=1+1", "quoted", 'single'`, '＝1+1', `'＠SUM(A1)`, 'x;=1+1', `x;'"=1`])(
  'can be imported again: %j',
  async (holder) => {
    const product = unique('product');
    const { license_key } = await newLicense(server, { product, holder, email: '+a@example.com' });
    const { text } = await download(`?product=${product}`);
    const { import_id, columns } = await server.admin.uploadImport({ file: new Blob([text]) });
    expect(columns).toEqual(expect.arrayContaining(['license_key', 'holder', 'email', 'plan', 'expires_at']));
    const mapping = { holder: 'holder', email: 'email', plan: 'plan', product: 'product' };
    await server.admin.runImport({ import_id, mapping });
    const [copy, original] = await exported(`?product=${product}`);
    expect(copy).toEqual({
      ...original,
      license_key: copy?.['license_key'],
      issued_at: copy?.['issued_at'],
      expires_at: copy?.['expires_at'],
    });
    expect((await server.admin.showLicense({ ref: copy?.['license_key'] ?? '' })).license).toMatchObject({
      holder,
      email: '+a@example.com',
    });
    expect(original?.['license_key']).toBe(license_key);
  },
);

/** As bytes, because a decoder takes the byte order mark away. */
async function bytesOf(query: string): Promise<Buffer> {
  const reply = await fetch(`${server.adminOrigin}/admin/api/licenses/export/${query}`, {
    headers: { authorization: `Bearer ${server.runtimeSecret}` },
  });
  return Buffer.from(await reply.arrayBuffer());
}

it('is as a German spreadsheet reads it, if asked', async () => {
  const product = unique('product');
  const license = await newLicense(server, { product, holder: 'A; B' });
  const plain = await bytesOf(`?product=${product}`);
  expect(plain.toString()).toMatch(/^license_key,holder,/u);
  expect((await bytesOf(`?product=${product}&separator=comma`)).equals(plain)).toBe(true);
  expect((await bytesOf(`?product=${product}&bom=true`)).toString()).toBe(`\ufeff${plain.toString()}`);
  const lines = (await bytesOf(`?product=${product}&separator=semicolon&bom=true`)).toString().split('\r\n');
  expect(lines[0]).toMatch(/^\ufefflicense_key;holder;email;/u);
  expect(lines[1]).toContain(`${license.license_key};"A; B";;${product};`);
  for (const query of ['?separator=;', '?bom=false', '?bom=1'])
    expect((await download(query)).status).toBe(400);
});

it('is imported unchanged with semicolons, too', async () => {
  const product = unique('product');
  const texts = { holder: 'x,=1;"=2"', notes: "'=1\n+2,@3\n'-4; ,'=5" };
  const custom_fields = { '=Kosten;stelle': ',=A1', Nummer: '-1,5' };
  await newLicense(server, { product, ...texts, custom_fields });
  const file = await bytesOf(`?product=${product}&separator=semicolon&bom=true`);
  const { import_id, columns } = await server.admin.uploadImport({ file: new Blob([new Uint8Array(file)]) });
  expect(columns).toEqual(expect.arrayContaining(Object.keys(custom_fields)));
  const again = unique('product');
  const fields = Object.fromEntries(Object.keys(custom_fields).map((name) => [name, name]));
  const mapping = { holder: 'holder', notes: 'notes', plan: 'plan', expires_at: 'expires_at' };
  await server.admin.runImport({ import_id, mapping, custom_fields: fields, defaults: { product: again } });
  const [original] = (await server.admin.listLicenses({ product })).items;
  const [copy] = (await server.admin.listLicenses({ product: again })).items;
  expect(copy).toMatchObject({ ...texts, custom_fields, expires_at: original?.expires_at });
});
