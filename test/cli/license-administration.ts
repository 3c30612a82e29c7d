// The commands for many licenses, their diagnosis, sessions and the server.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AuditEntryObject } from '#server/features/audit/audit-contract.ts';
import type { CertificateObject } from '#server/features/certificates/certificate-contract.ts';
import type { BulkReply, LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { TimelineItem } from '#server/features/licenses/license-timeline-contract.ts';
import type { ImportStatus } from '#server/features/license-transfer/license-transfer-contract.ts';
import type { SettingObject } from '#server/features/settings/settings-contract.ts';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import { REQUEST } from '../certificates/issuing.ts';
import { asCommand, type CreateLicense } from '../helpers/as-command.ts';
import { type Cli, runCli } from '../helpers/cli.ts';
import { type ServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const FINGERPRINT = `sha256:${'b2'.repeat(32)}`;

interface Context {
  cli: Cli;
  dataDir: string;
  /** The running server, if there is one. */
  server(): ServerProcess | undefined;
}

interface Listed<Item> {
  items: Item[];
}

export function describeLicenseAdministration({ cli, dataDir, server }: Context): void {
  const folder = temporaryDirectory('licenses');
  const here = ['--data-dir', dataDir];

  async function newLicense(input: Partial<CreateLicense> = {}): Promise<LicenseRecord> {
    const { license } = await asCommand(dataDir, (admin) =>
      admin.createLicense({ holder: 'Acme', ...input }),
    );
    return license;
  }

  async function activated(license: LicenseRecord): Promise<string> {
    const words = ['request', '--license-key', license.license_key, '--fingerprint', FINGERPRINT, '--qr'];
    const request = join(folder, `${license.license_id}.req`);
    writeFileSync(request, (await runCli(words)).stdout);
    await cli.ok('activate-offline', '--request', request, '--out', `${request}.lic`);
    return request;
  }

  describe('edit', () => {
    type Shown = { license: LicenseRecord };

    test('changes what is given, clears what is empty, and keeps the rest', async () => {
      const create = ['license', 'create', '--holder', 'Acme', '--email', 'a@example.com'];
      const { license } = await cli.ok<Shown>(...create, '--order-number', 'SO-1', '--notes', 'Pays late');
      expect(license).toMatchObject({
        email: 'a@example.com',
        order_number: 'SO-1',
        notes: 'Pays late',
      });
      const words = ['license', 'edit', license.license_key];
      const renamed = { ...license, holder: 'Nordwind', order_number: 'SO-2' };
      expect(await cli.ok<Shown>(...words, '--holder', 'Nordwind', '--order-number', 'SO-2')).toMatchObject({
        license: renamed,
      });
      const cleared = { ...renamed, email: null, order_number: null, notes: null };
      const text = await cli.prints(...words, '--email', '', '--order-number', '', '--notes', '');
      expect(text).toMatch(/^Holder: +Nordwind\nEmail: +–\nOrder number: +–\n/mu);
      expect(await cli.ok<Shown>('license', 'show', license.license_key)).toMatchObject({ license: cleared });
      expect(await cli.fails('license', 'edit', '999999', '--notes', 'A')).toMatchObject({
        error_code: 'license_not_found',
      });
    });
  });

  test('custom fields are set, changed, found, imported and removed', async () => {
    type Shown = { license: LicenseRecord };
    const words = ['license', 'create', '--holder', 'Acme', '--field', 'Cost center=4711-Süd'];
    const { license } = await cli.ok<Shown>(...words, '--field', 'Note=a=b');
    expect(license.custom_fields).toEqual({ 'Cost center': '4711-Süd', Note: 'a=b' });
    const edit = ['license', 'edit', license.license_key, '--field'];
    const text = await cli.prints(...edit, 'note=', '--field', 'Region=EMEA');
    expect(text).toMatch(/\n\nCustom fields\nCost center: +4711-Süd\nRegion: +EMEA\n$/u);
    const { items } = await cli.ok<Listed<LicenseRecord>>('license', 'list', '--search', '4711-süd');
    expect(items.map(({ license_id: id }) => id)).toEqual([license.license_id]);
    expect((await cli.refuses(...edit, 'Region')).message).toContain('must be NAME=VALUE');
    expect((await cli.refuses(...edit, `Region=${'x'.repeat(501)}`)).message).toMatch(
      /^--field .*at most 500 characters/u,
    );

    const file = join(folder, 'fields.csv');
    writeFileSync(file, 'holder,KST,notes\nImported with fields,99,Pays late\n');
    const unknown = await cli.refuses('license', 'import', file, '--field', 'Cost center=Kst');
    expect(unknown.message).toContain('--field must name a column of the file: holder, KST, notes');
    await cli.ok('license', 'import', file, '--field', 'Cost center=KST');
    expect(await cli.ok('license', 'list', '--search', 'imported with fields')).toMatchObject({
      items: [{ custom_fields: { 'Cost center': '99' }, notes: 'Pays late' }],
    });
  });

  test('a custom field may have an equals sign in its name, or a backslash at its end', async () => {
    type Shown = { license: LicenseRecord };
    const words = ['license', 'create', '--holder', 'Acme', '--field', String.raw`a\=b=w=1`];
    const { license } = await cli.ok<Shown>(...words, '--field', String.raw`D:\x\\=y`);
    expect(license.custom_fields).toEqual({ 'a=b': 'w=1', 'D:\\x\\': 'y' });
    const edit = ['license', 'edit', license.license_key, '--field', String.raw`a\=b=`];
    const edited = await cli.ok<Shown>(...edit, '--field', String.raw`\\\==z`);
    expect(edited.license.custom_fields).toEqual({ 'D:\\x\\': 'y', '\\=': 'z' });
    expect((await cli.refuses(...edit, '--field', String.raw`a\=b`)).message).toContain('must be NAME=VALUE');

    const file = join(folder, 'signs.csv');
    writeFileSync(file, 'holder,x=y\nImported with signs,1\n');
    await cli.ok('license', 'import', file, '--field', String.raw`x\=z=x=y`);
    expect(await cli.ok('license', 'list', '--search', 'imported with signs')).toMatchObject({
      items: [{ custom_fields: { 'x=z': '1' } }],
    });
  });

  test('replace moves a seat to another device, and writes its license file', async () => {
    const license = await newLicense();
    await activated(license);
    const fingerprint = `sha256:${'c3'.repeat(32)}`;
    const out = join(folder, 'replaced.lic');
    const words = ['license', 'replace', license.license_key, '--fingerprint', FINGERPRINT];
    const options = ['--new-fingerprint', fingerprint, '--name', 'ws-8', '--out', out];
    const first = await cli.ok<{ device: { id: number } }>(...words, ...options);
    expect(first).toMatchObject({
      device: { machine_fingerprint: fingerprint, machine_name: 'ws-8' },
      released: { machine_fingerprint: FINGERPRINT },
    });
    expect(readFileSync(out, 'utf8')).toContain('BEGIN LICENSE FILE');
    expect(await cli.prints(...words, '--new-fingerprint', fingerprint)).toMatch(/\n\nReplaces\nDevice: /u);
    const other = `sha256:${'d4'.repeat(32)}`;
    expect(await cli.fails(...words, '--new-fingerprint', other)).toMatchObject({
      error_code: 'device_replaced',
    });
    expect(await cli.ok('license', 'devices', license.license_key)).toMatchObject({
      items: [{ id: first.device.id, last_seen_at: null }, { machine_fingerprint: FINGERPRINT }],
    });
  });

  test('renew needs --shorten for an expiry date before the current one', async () => {
    const { license_key: key, expires_at: end } = await newLicense({ days: 30 });
    const words = ['license', 'renew', key, '--expires-at', '2089-01-31'];
    expect(await cli.ok(...words)).toMatchObject({ previous_expires_at: end });
    const earlier = ['license', 'renew', key, '--expires-at', '2088-01-31'];
    const failure = await cli.fails(...earlier);
    expect(failure.error_code).toBe('renewal_shortens');
    expect(failure.message).toContain('--shorten');
    expect(await cli.ok(...earlier, '--shorten')).toMatchObject({
      license: { expires_at: '2088-01-31T23:59:59.999Z' },
      previous_expires_at: '2089-01-31T23:59:59.999Z',
    });
  });

  describe('bulk commands', () => {
    test('renew takes ids and keys, and reports each failure', async () => {
      const [one, two, revoked] = [
        await newLicense({ days: 10 }),
        await newLicense({ days: 10 }),
        await newLicense(),
      ];
      await cli.ok('license', 'revoke', String(revoked.license_id));
      const words = ['license', 'bulk-renew', String(one.license_id), two.license_key, '--days', '5'];
      expect(await cli.ok<BulkReply>(...words)).toEqual({
        ok: true,
        done: [one.license_id, two.license_id],
        failed: [],
        unknown: [],
      });
      const input = `${one.license_key}\n\n${revoked.license_id}\n`;
      const result = await runCli(['license', 'bulk-renew', '-', '--json', ...here], { input });
      expect(result.exitCode).toBe(1);
      expect(JSON.parse(result.stdout)).toMatchObject({
        done: [one.license_id],
        failed: [{ license_id: revoked.license_id, error_code: 'license_revoked' }],
      });
      const text = await runCli(['license', 'bulk-renew', String(revoked.license_id), ...here]);
      expect(text.stdout).toMatch(/^0 renewed, 1 failed\.\n\nLICENSE +ERROR/u);
    });

    test('more than a hundred licenses take several calls', async () => {
      const ids = Array.from({ length: 101 }, (_one, at) => String(900_000 + at));
      const result = await runCli(['license', 'bulk-revoke', ...ids, '--yes', '--json', ...here]);
      const { done, failed } = JSON.parse(result.stdout) as BulkReply;
      expect({ done, failed: failed.length, exitCode: result.exitCode }).toEqual({
        done: [],
        failed: 101,
        exitCode: 1,
      });
    });
  });

  describe('import and export', () => {
    const csv = join(folder, 'import.csv');

    test('a file is checked, then imported as a whole', async () => {
      writeFileSync(csv, 'Company,email,days\nImported one,a@example.com,30\nImported two,,60\n');
      const words = ['license', 'import', csv, '--map', 'holder=Company', '--product', 'imported'];
      expect(await cli.ok(...words, '--dry-run')).toMatchObject({ rows: 2, valid: 2, error_count: 0 });
      const count = async () =>
        (await cli.ok<{ count: number }>('license', 'count', '--product', 'imported')).count;
      expect(await count()).toBe(0);
      const status = await cli.ok<ImportStatus>(...words);
      expect(status).toMatchObject({ state: 'done', done: 2, total: 2 });
      expect(await count()).toBe(2);
      expect(await cli.ok('license', 'import-status', status.import_id)).toMatchObject({ state: 'done' });
      expect(await cli.ok('license', 'import-cancel', status.import_id)).toMatchObject({ state: 'done' });
    });

    test('faulty rows are left out if asked, and saved with their reasons; so are the new keys', async () => {
      writeFileSync(csv, 'holder,plan\nGood,\nBad,nowhere\n');
      const [faulty, keys] = [join(folder, 'faulty.csv'), join(folder, 'keys.csv')];
      const words = ['license', 'import', csv, '--product', 'skipping', '--skip-faulty'];
      const status = await cli.ok<ImportStatus>(...words, '--faulty-out', faulty, '--keys-out', keys);
      expect(status).toMatchObject({ state: 'done', total: 2, skipped: 1 });
      expect(readFileSync(faulty, 'utf8')).toBe(
        'line,error,holder,plan\r\n3,plan: plan nowhere not found,Bad,nowhere\r\n',
      );
      expect(readFileSync(keys, 'utf8')).toMatch(/^license_key,holder,plan\r\n[0-9A-Z-]{29},Good,\r\n$/u);
    });

    test('nothing is imported if the file for the keys exists, and no file is left if nothing is imported', async () => {
      writeFileSync(csv, 'holder,plan\nGood,\n');
      const keys = join(folder, 'existing.csv');
      writeFileSync(keys, 'earlier keys');
      const words = ['license', 'import', csv, '--product', 'keyless', '--keys-out'];
      for (const dryRun of [['--dry-run'], []]) {
        const { message } = await cli.fails(...words, keys, ...dryRun);
        expect(message).toBe(`cannot write ${keys}: the file already exists`);
      }
      expect(readFileSync(keys, 'utf8')).toBe('earlier keys');
      const none = join(folder, 'none.csv');
      await cli.ok(...words, none, '--dry-run');
      writeFileSync(csv, 'holder,plan\nBad,nowhere\n');
      await cli.fails(...words, none);
      expect(existsSync(none)).toBe(false);
      expect(await cli.ok('license', 'count', '--product', 'keyless')).toMatchObject({ count: 0 });
    });

    test('a bad row imports nothing and is named with its line', async () => {
      writeFileSync(csv, 'holder,email\nGood,a@example.com\nBad,nobody\n');
      const failure = await runCli(['license', 'import', csv, '--product', 'refused', ...here]);
      expect(failure).toMatchObject({
        exitCode: 1,
        stderr: 'error: nothing is imported: 1 row has an error\n',
      });
      expect(failure.stdout).toMatch(/^LINE +COLUMN +ERROR\n +3 +email +/u);
      expect(await cli.ok('license', 'count', '--product', 'refused')).toMatchObject({
        count: 0,
        exact: true,
      });
    });

    test('a file whose encoding is a guess is said to be one, with an example to check', async () => {
      writeFileSync(csv, Buffer.from('Inhaber;plan\nM\xfcller\t;\nS\xf6hne;nowhere\n', 'latin1'));
      const words = ['license', 'import', csv, '--map', 'holder=Inhaber', '--product', 'guessed'];
      const note =
        'The file is not UTF-8 and was read as Windows-1252. Check its letters, for example: Müller';
      const refused = await runCli([...words, ...here]);
      expect(refused.stdout).toMatch(/^LINE +COLUMN +ERROR\n/u);
      expect(refused.stdout.trimEnd().split('\n').at(-1)).toBe(note);
      const skipping = [...words, '--skip-faulty'];
      const dryRun = await runCli([...skipping, '--dry-run', ...here]);
      expect(dryRun.stdout).toBe(`1 of 2 rows can be imported.\n\n${note}\n`);
      expect(await cli.ok(...skipping, '--dry-run')).toMatchObject({ encoding: 'windows-1252' });
      const imported = await runCli([...skipping, ...here]);
      expect(imported.stdout.trimEnd().split('\n').at(-1)).toBe(note);
      writeFileSync(csv, 'Inhaber;Ablauf\nMüller;31.12.2040\n');
      const plain = await runCli([...words, '--map', 'expires_at=Ablauf', ...here]);
      expect(plain.stdout).toBe('1 license imported.\n');
      const { items } = await cli.ok<Listed<LicenseRecord>>('license', 'list', '--product', 'guessed');
      expect(items.map(({ holder }) => holder)).toEqual(['Müller', 'Müller']);
      expect(items[0]?.expires_at).toBe('2040-12-31T23:59:59.999Z');
    });

    test('the export has the licenses of the filter', async () => {
      await newLicense({ holder: 'Exported', product: 'exported' });
      const out = join(folder, 'export.csv');
      const words = ['license', 'export', '--out', out, '--product', 'exported'];
      const { bytes } = await cli.ok<{ bytes: number }>(...words);
      const text = readFileSync(out, 'utf8');
      expect(bytes).toBe(Buffer.byteLength(text));
      expect(text.trimEnd().split('\n')).toHaveLength(2);
      expect(text).toContain('Exported');
      expect((await cli.fails(...words)).message).toContain('already exists');
      expect(await cli.prints('license', 'export', '--out', '-', '--product', 'exported')).toBe(text);
    });
  });

  test('an exported file is imported again with all custom fields, of which it has more than a license can have', async () => {
    const product = 'fields-exported';
    const field = (license: number, index: number) => [`Field ${license}-${index}`, `${license}.${index}`];
    const fieldsOf = (license: number): Record<string, string> => ({
      State: 'Bavaria',
      'Plan (custom field)': 'P',
      days: '12',
      'Column 20': 'x',
      'license_key (file)': 'old',
      ...Object.fromEntries(Array.from({ length: 15 }, (_, index) => field(license, index))),
    });
    const all = [1, 2, 3].map(fieldsOf);
    for (const fields of all) {
      const options = Object.entries(fields).flatMap(([name, value]) => ['--field', `${name}=${value}`]);
      await cli.ok('license', 'create', '--holder', 'Acme', '--product', product, ...options);
    }
    const file = join(folder, 'fields-exported.csv');
    await cli.ok('license', 'export', '--out', file, '--product', product);
    const rows = readFileSync(file, 'utf8').replaceAll(`,${product},`, ',fields-again,');
    writeFileSync(file, rows.replaceAll(/^[0-9A-Z-]{29},/gmu, ','));
    await cli.ok('license', 'import', file, '--all-fields');
    const { items } = await cli.ok<Listed<LicenseRecord>>('license', 'list', '--product', 'fields-again');
    // An export is newest first, and so is the list.
    expect(items.map(({ custom_fields: fields }) => fields)).toEqual(all);
    const both = await cli.refuses('license', 'import', file, '--all-fields', '--field', 'A=State');
    expect(both.message).toMatch(/--all-fields/u);
    const names = Array.from({ length: 401 }, (_, index) => `Field ${index}`);
    writeFileSync(file, `holder,${names.join(',')}\nAcme\n`);
    const wide = await cli.refuses('license', 'import', file, '--all-fields');
    expect(wide.message).toBe('--field must have at most 400 fields');
  });

  describe('diagnosis', () => {
    test('explain shows the rule that fails', async () => {
      const { license_id: id } = await newLicense();
      const words = ['license', 'explain', String(id)];
      expect(await cli.ok(...words)).toMatchObject({ authorized: true, reason: null });
      const other = await cli.prints(...words, '--product', 'other');
      expect(other).toMatch(/^NOT AUTHORIZED: product_mismatch\n\nRULE +RESULT +DETAIL\n/u);
      expect(other).toMatch(/^product +FAILED +.*other.*remedy: other_product$/mu);
    });

    test('timeline lists changes, newest first', async () => {
      const license = await newLicense();
      await cli.ok('license', 'revoke', license.license_key);
      const { items } = await cli.ok<Listed<TimelineItem>>('license', 'timeline', license.license_key);
      expect(items.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['license.revoked', 'license.created']),
      );
      expect(items.at(-1)?.name).toBe('license.created');
    });

    test('a license file is issued again, and explained', async () => {
      const license = await newLicense();
      await activated(license);
      const out = join(folder, 'again.lic');
      const words = ['license', 'file', license.license_key, '--fingerprint', FINGERPRINT, '--ttl-days', '3'];
      await cli.ok(...words, '--out', out);
      const key = await cli.prints('public-key');
      expect(await runCli(['verify', out, '--public-key', key, '--fingerprint', FINGERPRINT])).toMatchObject({
        exitCode: 0,
      });
      expect(await cli.ok('license', 'explain-file', out, '--fingerprint', FINGERPRINT)).toMatchObject({
        valid: true,
      });
      const late = await cli.prints('license', 'explain-file', out, '--at', '2089-01-01');
      expect(late).toMatch(/^NOT VALID: /u);
      expect(
        await cli.fails(
          'license',
          'file',
          license.license_key,
          '--fingerprint',
          `sha256:${'0'.repeat(64)}`,
          '--out',
          out,
        ),
      ).toMatchObject({ error_code: 'device_not_found' });
    });

    test('activate-offline --dry-run activates nothing', async () => {
      const license = await newLicense();
      const words = [
        'request',
        '--license-key',
        license.license_key,
        '--fingerprint',
        FINGERPRINT,
        '--out',
        '-',
      ];
      const request = join(folder, 'dry.req');
      writeFileSync(request, (await runCli(words)).stdout);
      const dry = ['activate-offline', '--request', request, '--dry-run'];
      expect(await cli.ok(...dry)).toMatchObject({ can_activate: true, activation: null });
      expect(await cli.ok('license', 'devices', license.license_key)).toMatchObject({ items: [] });
      await cli.ok('license', 'revoke', license.license_key);
      expect(await cli.prints(...dry)).toContain('The device cannot be activated: ');
    });

    test.each([
      ['readable', []],
      ['encrypted', ['--encrypt']],
    ])(
      'activate-offline prints when the file expires, if it is %s, and when the license does',
      async (_form, words) => {
        const request = await activated(await newLicense({ expires_at: '2099-05-31T00:00:00.000Z' }));
        const activate = ['activate-offline', '--request', request, '--out', `${request}.lic`, ...words];
        const limited = [...activate, '--ttl-days', '10'];
        const started = Date.now();
        const { file_expires_at: end } = await cli.ok<{ file_expires_at: string }>(...limited);
        const lasts = Date.parse(end) - 10 * 86_400_000;
        expect(lasts).toBeGreaterThanOrEqual(started);
        expect(lasts).toBeLessThanOrEqual(Date.now());
        const text = await cli.prints(...limited);
        expect(text).toMatch(/^License expires: +2099-05-31 /mu);
        expect(text).toMatch(/^File expires: +20\d\d-/mu);
        expect(text).not.toMatch(/^File expires: +2099/mu);
        expect(await cli.prints(...activate)).toMatch(/^File expires: +2099-06-14 /mu);
      },
    );

    test('activate-offline refuses a malformed request, also with --dry-run', async () => {
      const { license_key: licenseKey } = await newLicense();
      const request = join(folder, 'malformed.req');
      const fields = { licenseKey, fingerprint: FINGERPRINT, nonce: 'n', issuedAt: Date.now() };
      writeFileSync(request, formatMachineRequest({ ...fields, product: 'My Product' }));
      const words = ['activate-offline', '--request', request];
      const message = 'product_slug: must be 1 to 64 lowercase letters, digits or hyphens';
      for (const way of [['--dry-run'], ['--out', join(folder, 'malformed.lic')]])
        expect(await cli.fails(...words, ...way)).toMatchObject({ error_code: 'invalid_request', message });
    });
  });

  test('an audit entry is shown with its values, and the actions are listed', async () => {
    const license = await newLicense();
    const { items } = await cli.ok<Listed<AuditEntryObject>>(
      'audit',
      'list',
      '--subject',
      `license:${license.license_id}`,
    );
    const entry = items[0]!;
    expect(await cli.ok('audit', 'show', String(entry.id))).toEqual({ ok: true, entry });
    expect(await cli.prints('audit', 'show', String(entry.id))).toMatch(/^After: +\{"/mu);
    const { actions } = await cli.ok<{ actions: string[] }>('audit', 'actions');
    expect(actions).toContain('license.created');
  });

  test('a certificate is shown and validated', async () => {
    const { license_id } = await newLicense();
    const { certificate } = await asCommand(dataDir, (admin) =>
      admin.generateCertificate({ license_id, common_name: 'A', csr: REQUEST.csr }),
    );
    const shown = await cli.ok<{ certificate: CertificateObject }>('cert', 'show', String(certificate.id));
    expect(shown.certificate).toEqual(certificate);
    const file = join(folder, 'certificate.pem');
    writeFileSync(file, certificate.pem);
    expect(await cli.ok('cert', 'validate', file)).toMatchObject({ valid: true, status: 'good' });
    await cli.ok('cert', 'revoke', certificate.serial_number);
    const revoked = await runCli(['cert', 'validate', '--serial-number', certificate.serial_number, ...here]);
    expect(revoked).toMatchObject({ exitCode: 1, stderr: '' });
    expect(revoked.stdout).toMatch(/^Valid: +no\nStatus: +revoked\n/u);
  });

  test('deliveries are selected by license, and counted before a retry', async () => {
    const { license_key: key } = await newLicense();
    expect(await cli.ok('events', 'list', '--license', key, '--retriable')).toMatchObject({ items: [] });
    const counted = await cli.ok<{ count: number }>('events', 'retry', '--all', '--dry-run');
    expect(counted).toMatchObject({ count: expect.any(Number) as number, exact: true });
  });

  test('plans go on page by page', async () => {
    const first = await cli.ok<Listed<{ name: string }> & { next_cursor: string }>(
      'plan',
      'list',
      '--limit',
      '1',
    );
    expect(first.items).toHaveLength(1);
    const second = await cli.ok<Listed<{ name: string }>>(
      'plan',
      'list',
      '--limit',
      '1',
      '--cursor',
      first.next_cursor,
    );
    expect(second.items[0]?.name).not.toBe(first.items[0]?.name);
  });

  test('settings get shows one setting, however its name is written', async () => {
    const { setting } = await cli.ok<{ setting: SettingObject }>('settings', 'get', 'scan-seconds');
    expect(setting).toMatchObject({ name: 'scan_seconds', default: '60' });
    expect(await cli.prints('settings', 'get', '--output', 'env', 'scan_seconds')).toBe(
      'LICENSE_DESK_SCAN_SECONDS\n',
    );
    expect(await cli.prints('settings', 'get', 'scan-seconds')).toMatch(/^Option: +--scan-seconds$/mu);
    expect(await cli.fails('settings', 'get', 'colour')).toMatchObject({ error_code: 'not_found' });
  });

  test('server shows what runs, and restarts only under a supervisor', async () => {
    const info = await cli.ok<{ version: string }>('server', 'info');
    expect(info.version).toMatch(/^\d+\.\d+\.\d+/u);
    expect(await cli.ok('server', 'alerts')).toEqual({ ok: true, items: [], next_cursor: null });
    expect((await cli.fails('server', 'restart')).message).toContain('next start');
  });

  test('sessions are listed and ended', async () => {
    const running = server();
    if (running === undefined) {
      expect(await cli.ok('session', 'list')).toMatchObject({ items: [] });
      expect(await cli.ok('session', 'end', '--all')).toEqual({ ok: true, ended: 0 });
      return;
    }
    const signIn = async () => {
      const address = new URL((await cli.prints('open')).trim());
      await fetch(new URL('/admin/api/session/', address), {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: address.origin },
        body: JSON.stringify({ code: address.searchParams.get('code') }),
      });
    };
    await signIn();
    await signIn();
    const { items } = await cli.ok<Listed<{ id: string }>>('session', 'list');
    expect(items).toHaveLength(2);
    expect(await cli.ok('session', 'end', items[0]!.id)).toEqual({ ok: true, ended: 1 });
    expect(await cli.ok('session', 'end', '--all')).toEqual({ ok: true, ended: 1 });
    expect(await cli.ok('session', 'list')).toMatchObject({ items: [] });
    expect(await cli.fails('session', 'end', items[0]!.id)).toMatchObject({ error_code: 'not_found' });
  });
}
