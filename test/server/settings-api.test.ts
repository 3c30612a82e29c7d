// Settings as administrators see and change them; what each may be is in settings.test.ts.
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { rootCertificates } from 'node:tls';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { allowedRule } from '#server/platform/allowed-rule.ts';
import { loadConfig } from '#server/platform/config.ts';
import { settingKey, SETTINGS } from '#server/platform/settings.ts';
import { cliOn } from '../helpers/cli.ts';
import { adminSuccess, callAdmin } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer } from '../helpers/test-server.ts';

type Changes = Record<string, string | number | null>;

const server = sharedServer();

const configFile = () => join(server.dataDir, 'config.json');
const written = () => JSON.parse(readFileSync(configFile(), 'utf8')) as unknown;
const show = () => server.admin.showSettings({});
const update = (changes: Changes) => server.admin.updateSettings({ changes });

async function setting(name: string) {
  return (await show()).settings.find((row) => row.name === name);
}

/** What is wrong, by setting. */
async function refusal(changes: Changes): Promise<Record<string, string>> {
  const reply = await callAdmin(server, 'updateSettings', { changes });
  expectFailure(reply, 'invalid_request');
  const details = (reply.body as { details: { path: string; message: string }[] }).details;
  return Object.fromEntries(details.map(({ path, message }) => [path, message]));
}

beforeEach(() => rmSync(configFile(), { force: true }));

describe('showing settings', () => {
  it('shows each setting, its source and how to set it', async () => {
    const reply = (await adminSuccess(server, 'showSettings')) as Awaited<ReturnType<typeof show>>;
    expect(reply).toMatchObject({
      config_file: configFile(),
      config_problem: null,
      config_problem_rule: null,
      restart_needed: false,
      restart: false,
      restart_advice: expect.stringContaining('start it again') as string,
      master_key: { source: 'file', path: join(server.dataDir, 'master.key') },
    });
    expect(reply.settings.map(({ name }) => name)).toEqual(Object.values(SETTINGS).map(settingKey));
    expect(await setting('rate_limit')).toEqual({
      name: 'rate_limit',
      value: '0',
      next_value: '0',
      default: '60',
      source: 'flag',
      editable: false,
      description: expect.stringContaining('per caller address') as string,
      allowed: '0 to 1000000',
      kind: 'number',
      env: 'LICENSE_DESK_RATE_LIMIT',
      flag: '--rate-limit',
      secret: false,
    });
    expect(await setting('tls')).toMatchObject({ value: 'off', source: 'default', choices: ['off', 'auto'] });
    expect(await setting('base_url')).toMatchObject({ value: null, default: null, editable: true });
    expect(await setting('data_dir')).toMatchObject({ source: 'flag', editable: false, kind: 'path' });
  });

  it('has nothing of the master key but where it is', async () => {
    const key = readFileSync(join(server.dataDir, 'master.key'), 'utf8').trim();
    expect(JSON.stringify(await show())).not.toContain(key);
    const masterKey = Buffer.alloc(32, 9).toString('base64');
    const other = await startTestServer({ masterKey });
    onTestFinished(() => other.stop());
    const reply = await other.admin.showSettings({});
    expect(reply.master_key).toEqual({ source: 'environment', env: 'LICENSE_DESK_MASTER_KEY', path: null });
    expect(JSON.stringify(reply)).not.toContain(masterKey);
  });

  it('reports what would stop the next start, and keeps running', async () => {
    writeFileSync(configFile(), '{ "scan_seconds": ');
    expect(await show()).toMatchObject({
      config_problem: expect.stringContaining('one JSON object') as string,
    });
    writeFileSync(configFile(), '{ "scan_seconds": "often" }');
    const reply = await show();
    expect(reply).toMatchObject({
      config_problem: 'scan_seconds in config.json is "often", but must be seconds above 0',
    });
    writeFileSync(configFile(), '{ "colour": "blue" }');
    expect(await show()).toMatchObject({
      config_problem: 'config.json has the unknown setting "colour"; correct or remove it',
    });
  });

  it.each([
    ['{ "scan_seconds": ', { setting: null, reason: 'not_a_json_object' }],
    ['{ "colour": "blue" }', { setting: 'colour', reason: 'unknown_setting' }],
    ['{ "scan_seconds": "often" }', { setting: 'scan_seconds', reason: 'not_above_zero' }],
    ['{ "host": "a b" }', { setting: 'host', reason: 'not_a_host' }],
    [
      '{ "license_file_ttl_days": 0 }',
      { setting: 'license_file_ttl_days', reason: 'not_in_range', values: { min: 1, max: 36_500 } },
    ],
    [
      '{ "webhook_ca": "/missing/ca.pem" }',
      { setting: null, reason: 'path_missing', values: { path: '/missing/ca.pem' } },
    ],
    ['{ "backup_schedule": "daily" }', { setting: null, reason: 'backup_folder_required' }],
  ])('names the rule that %s breaks', async (content, rule) => {
    writeFileSync(configFile(), content);
    const { config_problem: message, config_problem_rule: problem } = await show();
    expect(problem).toEqual({ message, ...rule });
  });
});

describe('dangerous settings', () => {
  const WARNING = {
    code: 'caller_address_forgeable',
    message: expect.stringContaining('can forge their address') as string,
  };

  it.each([
    ['on', '0.0.0.0', [WARNING]],
    ['2', 'licenses.example', [WARNING]],
    ['on', '127.0.0.1', []],
    ['on', '::1', []],
    ['on', 'localhost', []],
    ['10.0.0.5', '0.0.0.0', []],
    ['off', '0.0.0.0', []],
  ])('trust_proxy %s on %s', async (trustProxy, host, warnings) => {
    const base_url = 'https://licenses.example';
    writeFileSync(configFile(), JSON.stringify({ trust_proxy: trustProxy, host, base_url }));
    expect((await show()).warnings).toEqual(warnings);
  });

  const DERIVED = 'base_url_derived';
  const UNENCRYPTED = 'api_unencrypted';
  it.each<[settings: Record<string, string>, codes: string[]]>([
    [{ host: '0.0.0.0' }, [DERIVED, UNENCRYPTED]],
    [{ host: '0' }, [DERIVED, UNENCRYPTED]],
    [{ host: '::' }, [DERIVED, UNENCRYPTED]],
    [{ host: '0:0:0:0:0:0:0:0' }, [DERIVED, UNENCRYPTED]],
    [{ host: '0.0.0.0', base_url: 'http://licenses.example' }, [UNENCRYPTED]],
    [{ host: '0.0.0.0', base_url: 'https://licenses.example' }, []],
    [{ host: '0.0.0.0', tls: 'auto' }, [DERIVED]],
    [{ host: '192.0.2.1' }, [UNENCRYPTED]],
    [{ host: 'licenses.example' }, [UNENCRYPTED]],
    [{ host: '192.0.2.1', tls: 'auto' }, []],
    [{ host: '127.0.0.1' }, []],
    [{ host: '::1' }, []],
    [{}, []],
  ])('%j has the warnings %j', async (settings, codes) => {
    writeFileSync(configFile(), JSON.stringify(settings));
    expect((await show()).warnings.map(({ code }) => code)).toEqual(codes);
  });

  it('are in the log of a start, and in what commands print', async () => {
    const dangerous = await startTestServer({ flags: { host: '0.0.0.0', 'trust-proxy': 'on' } });
    onTestFinished(() => dangerous.stop());
    await eventually(() => {
      const log = readFileSync(join(dangerous.dataDir, 'logs', 'license-desk.1.log'), 'utf8');
      expect(log).toMatch(/"level":40,.*can forge their address/u);
    });
    const cli = cliOn(dangerous.dataDir);
    expect(await cli.prints('settings', 'list')).toContain('Warning: trust_proxy accepts');
    writeFileSync(join(dangerous.dataDir, 'config.json'), '{ "trust_proxy": "on", "host": "0.0.0.0" }');
    expect(await cli.prints('doctor')).toMatch(/^settings +ok +warning: trust_proxy accepts/mu);
    rmSync(join(dangerous.dataDir, 'config.json'));
    expect(await cli.prints('doctor')).not.toMatch(/^settings /mu);
  });
});

describe('changing settings', () => {
  it('writes what the next start takes, and leaves what runs alone', async () => {
    const reply = await update({ scan_seconds: '120', default_product: 'desk', trust_proxy: 'on' });
    expect(reply).toMatchObject({ restart_needed: true, config_problem: null });
    expect(await setting('scan_seconds')).toMatchObject({
      value: '60',
      next_value: '120',
      source: 'default',
    });
    expect(written()).toEqual({ scan_seconds: 120, default_product: 'desk', trust_proxy: 'on' });
    const next = loadConfig({ flags: { 'data-dir': server.dataDir }, env: {} });
    expect(next).toMatchObject({ scanSeconds: 120, defaultProduct: 'desk', trustProxy: 1 });
  });

  it('needs no restart for an equivalent value', async () => {
    expect(await update({ scan_seconds: '60.0' })).toMatchObject({ restart_needed: false });
  });

  it('takes a setting out again', async () => {
    await update({ scan_seconds: 120, default_product: 'desk' });
    expect(await update({ scan_seconds: null, default_product: null })).toMatchObject({
      restart_needed: false,
    });
    expect(written()).toEqual({});
  });

  it('keeps what else is in the file, understood or not', async () => {
    writeFileSync(configFile(), '\uFEFF{ "note": {"by": "Jana"}, "port": 9000 }');
    await update({ scan_seconds: 120 });
    expect(written()).toEqual({ note: { by: 'Jana' }, port: 9000, scan_seconds: 120 });
    await update({ note: null });
    expect(written()).toEqual({ port: 9000, scan_seconds: 120 });
  });

  it('leaves a file alone that it cannot read', async () => {
    writeFileSync(configFile(), '{ by hand');
    expectFailure(
      await callAdmin(server, 'updateSettings', { changes: { scan_seconds: 9 } }),
      'invalid_request',
    );
    expect(readFileSync(configFile(), 'utf8')).toBe('{ by hand');
  });

  it('names the rule that a wrong value breaks', async () => {
    const changes = { backup_hour: '24', scan_seconds: '-1', default_product: 'A b', backup_folder: 'here' };
    const reply = await callAdmin(server, 'updateSettings', { changes });
    expectFailure(reply, 'invalid_request');
    expect(reply.body.details).toMatchObject([
      { path: 'backup_hour', reason: 'not_in_range', values: { min: 0, max: 23 } },
      { path: 'scan_seconds', reason: 'not_above_zero' },
      { path: 'default_product', reason: 'not_a_slug' },
      { path: 'backup_folder', reason: 'not_an_absolute_path' },
    ]);
  });

  it('has a rule for every value that can be entered in a field', () => {
    const unnamed = Object.values(SETTINGS).filter((row) => allowedRule(row).reason === undefined);
    // A directory that only the start sets, files whose paths are all parsed, and a choice.
    expect(unnamed.map(settingKey).toSorted()).toEqual([
      'backup_schedule',
      'data_dir',
      'database_url_file',
      'replica_database_url_file',
      'webhook_ca',
    ]);
  });

  it('refuses all of it for one wrong value, and lists every one', async () => {
    await update({ default_product: 'desk' });
    const wrong = await refusal({
      scan_seconds: '-1',
      tls: 'perhaps',
      colour: 'blue',
      port: '9000',
      data_dir: '/elsewhere',
      license_file_ttl_days: '30',
    });
    expect(wrong).toEqual({
      scan_seconds: 'must be seconds above 0',
      tls: 'must be off, auto, or two PEM files as CERT,KEY',
      colour: 'is not a setting',
      port: 'is set by --port on the command line, which takes precedence over config.json',
      data_dir: 'can only be set by --data-dir or LICENSE_DESK_DATA_DIR: config.json is in that directory',
    });
    expect(written()).toEqual({ default_product: 'desk' });
  });

  it('tries out what the words alone do not tell', async () => {
    const wrong = await refusal({
      host: '192.0.2.1',
      tls: `${server.dataDir}/no.pem,${server.dataDir}/no.key`,
      webhook_ca: join(server.dataDir, 'master.key'),
      database_url: 'postgres://desk:secret@127.0.0.1:1/desk',
    });
    expect(Object.keys(wrong)).toEqual(['host', 'tls', 'webhook_ca', 'database_url']);
    expect(wrong['host']).toMatch(/^cannot listen on 192\.0\.2\.1:0/u);
    expect(JSON.stringify(wrong)).not.toContain('secret');
    expect(await refusal({ tls: 'cert.pem,key.pem' })).toEqual({ tls: 'cert.pem must be an absolute path' });
  });

  describe('names the rule that keeps the next start from using', () => {
    const inFile = (name: string, content: string) => {
      const path = join(temporaryDirectory(), name);
      writeFileSync(path, content);
      return path;
    };
    let folder: string;
    let text: string;
    beforeEach(() => {
      folder = temporaryDirectory();
      text = inFile('note.txt', 'no PEM');
    });

    it.each<[string, () => Changes, () => object]>([
      [
        'an address of another machine',
        () => ({ host: '192.0.2.1' }),
        () => ({ path: 'host', reason: 'address_not_local', values: { address: '192.0.2.1' } }),
      ],
      [
        'a relative path',
        () => ({ tls: 'cert.pem,key.pem' }),
        () => ({ path: 'tls', reason: 'not_an_absolute_path' }),
      ],
      [
        'a file that is missing',
        () => ({ tls: `${folder}/no.pem,${text}` }),
        () => ({ path: 'tls', reason: 'path_missing', values: { path: `${folder}/no.pem` } }),
      ],
      [
        'a folder in place of a file',
        () => ({ webhook_ca: folder }),
        () => ({ path: 'webhook_ca', reason: 'not_a_file', values: { path: folder } }),
      ],
      [
        'a path below a file',
        () => ({ webhook_ca: `${text}/ca.pem` }),
        () => ({
          path: 'webhook_ca',
          reason: 'path_unusable',
          values: { path: `${text}/ca.pem`, code: 'ENOTDIR' },
        }),
      ],
      [
        'a text in place of a certificate',
        () => ({ tls: `${text},${text}` }),
        () => ({ path: 'tls', reason: 'unreadable_certificate' }),
      ],
      [
        'a text in place of a key',
        () => ({ tls: `${inFile('ca.pem', rootCertificates[0]!)},${text}` }),
        () => ({ path: 'tls', reason: 'not_a_private_key' }),
      ],
      [
        'the key of another certificate',
        () => {
          const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
          const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
          return { tls: `${inFile('ca.pem', rootCertificates[0]!)},${inFile('key.pem', key)}` };
        },
        () => ({ path: 'tls', reason: 'not_key_of_certificate' }),
      ],
      [
        'a file without certificates',
        () => ({ webhook_ca: text }),
        () => ({ path: 'webhook_ca', reason: 'no_certificate', values: { path: text } }),
      ],
      [
        'a damaged certificate',
        () => ({
          webhook_ca: inFile('ca.pem', '-----BEGIN CERTIFICATE-----\nMIIA\n-----END CERTIFICATE-----\n'),
        }),
        () => ({ path: 'webhook_ca', reason: 'unreadable_certificate' }),
      ],
      [
        'a file without the URL of a database',
        () => ({ database_url_file: text }),
        () => ({ path: 'database_url_file', reason: 'no_database_url', values: { path: text } }),
      ],
      [
        'a URL beside the file of a URL',
        () => ({ database_url_file: text, database_url: 'postgres://desk@127.0.0.1:1/desk' }),
        () => ({
          path: 'database_url',
          reason: 'only_one',
          values: { fields: ['database_url_file', 'database_url'] },
        }),
      ],
      [
        'a database server that does not run',
        () => ({ replica_database_url: 'postgres://desk@127.0.0.1:1/desk' }),
        () => ({ path: 'replica_database_url', reason: 'database_refused' }),
      ],
      [
        'a database server whose host is unknown',
        () => ({ database_url: 'postgres://desk@nowhere.invalid/desk' }),
        () => ({ path: 'database_url', reason: 'host_unresolved' }),
      ],
      [
        'a backup folder in the data directory',
        () => ({ backup_folder: join(server.dataDir, 'backups') }),
        () => ({ path: 'backup_folder', reason: 'in_data_directory', values: { path: server.dataDir } }),
      ],
      [
        'a file in place of the backup folder',
        () => ({ backup_folder: text }),
        () => ({ path: 'backup_folder', reason: 'not_a_folder', values: { path: text } }),
      ],
      [
        'a backup folder below a file',
        () => ({ backup_folder: join(text, 'backups') }),
        () => ({ path: 'backup_folder', reason: 'not_a_folder', values: { path: text } }),
      ],
      [
        'a daily backup without a folder',
        () => ({ backup_schedule: 'daily' }),
        () => ({ path: 'backup_schedule', reason: 'backup_folder_required' }),
      ],
      [
        'a passphrase beside the backups that it opens',
        () => {
          writeFileSync(join(folder, 'passphrase.txt'), 'a long passphrase');
          return { backup_folder: folder, backup_passphrase_file: join(folder, 'passphrase.txt') };
        },
        () => ({ path: 'backup_folder', reason: 'passphrase_in_backup_folder', values: { path: folder } }),
      ],
      [
        'a file of a passphrase that is missing',
        () => ({ backup_passphrase_file: join(folder, 'passphrase.txt') }),
        () => ({
          path: 'backup_passphrase_file',
          reason: 'path_missing',
          values: { path: join(folder, 'passphrase.txt') },
        }),
      ],
      [
        'a passphrase that is too short',
        () => ({ backup_passphrase_file: text }),
        () => ({
          path: 'backup_passphrase_file',
          reason: 'not_passphrase_length',
          values: { path: text, min: 12, max: 1000, got: 6 },
        }),
      ],
      [
        'a back office that is open to the network without TLS',
        () => ({ admin_host: '0.0.0.0' }),
        () => ({ path: 'admin_host', reason: 'https_url_required', values: { address: '0.0.0.0' } }),
      ],
    ])('%s', async (_what, changes, detail) => {
      const reply = await callAdmin(server, 'updateSettings', { changes: changes() });
      expectFailure(reply, 'invalid_request');
      expect(reply.body.details).toMatchObject([detail()]);
    });

    it('a database server that does not answer', async () => {
      const silent = createServer();
      await new Promise<void>((resolve) => {
        silent.listen(0, '127.0.0.1', resolve);
      });
      onTestFinished(() => void silent.close());
      const { port } = silent.address() as AddressInfo;
      const url = `postgres://desk@127.0.0.1:${port}/desk?connectionTimeoutMillis=50`;
      const reply = await callAdmin(server, 'updateSettings', { changes: { database_url: url } });
      expectFailure(reply, 'invalid_request');
      expect(reply.body.details).toMatchObject([{ path: 'database_url', reason: 'database_not_answering' }]);
    });

    it.each([
      ['28P01', 'database_login_refused'],
      ['28000', 'database_login_refused'],
      ['3D000', 'database_not_found'],
    ])('a database server that answers %s', async (code, reason) => {
      const fields = ['SFATAL', `C${code}`, 'Mas the server says it', ''].join('\0');
      const refusing = createServer((socket) => {
        socket.once('data', () => {
          const length = Buffer.alloc(4);
          length.writeUInt32BE(Buffer.byteLength(fields) + 5);
          socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(`${fields}\0`)]));
        });
      });
      await new Promise<void>((resolve) => {
        refusing.listen(0, '127.0.0.1', resolve);
      });
      onTestFinished(() => void refusing.close());
      const { port } = refusing.address() as AddressInfo;
      const changes = { database_url: `postgres://desk:secret@127.0.0.1:${port}/desk` };
      const reply = await callAdmin(server, 'updateSettings', { changes });
      expectFailure(reply, 'invalid_request');
      expect(reply.body.details).toMatchObject([{ path: 'database_url', reason }]);
      expect(JSON.stringify(reply.body)).not.toContain('secret');
    });
  });

  it('masks a password in the values as in the message', async () => {
    const tls = '/postgres://desk:secret@host/no.pem,/no.key';
    const reply = await callAdmin(server, 'updateSettings', { changes: { tls } });
    expectFailure(reply, 'invalid_request');
    expect(reply.body.details).toMatchObject([
      { reason: 'path_missing', values: { path: '/postgres://desk:********@host/no.pem' } },
    ]);
    expect(JSON.stringify(reply.body)).not.toContain('secret');
  });

  it('do not take a path that the next start would look for in its own working directory', async () => {
    const file = join(server.dataDir, 'partner-ca.pem');
    writeFileSync(file, rootCertificates[0]!);
    const path = relative(process.cwd(), file);
    const wrong = await refusal({
      webhook_ca: path,
      database_url_file: path,
      replica_database_url_file: path,
      backup_folder: path,
      backup_passphrase_file: path,
    });
    expect(new Set(Object.values(wrong))).toEqual(new Set(['must be an absolute path']));
    expect(Object.keys(wrong)).toHaveLength(5);
    await update({ webhook_ca: file });
    await update({ webhook_ca: null });
  });

  it('does not take a masked password for a password', async () => {
    writeFileSync(configFile(), '{ "database_url": "postgres://desk:secret@127.0.0.1:1/desk" }');
    const shown = await setting('database_url');
    expect(shown).toMatchObject({ secret: true, next_value: 'postgres://desk:********@127.0.0.1:1/desk' });
    const wrong = await refusal({ database_url: shown?.next_value ?? '' });
    expect(wrong).toEqual({ database_url: 'is missing its password; enter the complete value' });
    await update({ database_url: null });
    const { items } = await server.admin.listAudit({ limit: 1 });
    expect(items).toMatchObject([{ action: 'settings.changed', after: { database_url: null } }]);
    expect(JSON.stringify(items)).not.toContain('secret');
  });

  it('loses none of many changes at once', async () => {
    const names = [
      'scan_seconds',
      'webhook_timeout_seconds',
      'webhook_backoff_seconds',
      'license_file_ttl_days',
    ];
    await Promise.all(names.map((name) => update({ [name]: 77 })));
    expect(written()).toEqual(Object.fromEntries(names.map((name) => [name, 77])));
  });

  it('is in the audit log, unless it changes nothing', async () => {
    await update({ default_product: 'desk' });
    await update({ default_product: 'desk' });
    const { items } = await server.admin.listAudit({ subject: 'settings' });
    expect(items[0]).toMatchObject({
      actor_name: 'tester',
      action: 'settings.changed',
      before: { default_product: 'my-product' },
      after: { default_product: 'desk' },
    });
    expect(items[1]).not.toMatchObject({
      after: { default_product: 'desk' },
      before: { default_product: 'desk' },
    });
  });
});

describe('a change that fails late', () => {
  const entries = async () =>
    (await server.admin.listAudit({ action: 'settings.changed', limit: 100 })).items.length;

  it('is not in the file either when the audit log cannot be written', async () => {
    await update({ scan_seconds: 300 });
    await writeRows(
      server.dataDir,
      `CREATE TRIGGER no_entry BEFORE INSERT ON audit_entries WHEN NEW.action = 'settings.changed'
       BEGIN SELECT RAISE(ABORT, 'no room'); END`,
    );
    const before = await entries();
    await expect(update({ scan_seconds: 400, default_product: 'desk' })).rejects.toThrow();
    expect(written()).toEqual({ scan_seconds: 300 });
    await writeRows(server.dataDir, 'DROP TRIGGER no_entry');
    await update({ scan_seconds: 400 });
    expect(await entries()).toBe(before + 1);
    expect(written()).toEqual({ scan_seconds: 400 });
  });

  it('leaves in the audit log what is changed beside it', async () => {
    await server.admin.createPlan({ name: 'taken' });
    const before = await entries();
    const ends = await Promise.allSettled(
      Array.from({ length: 20 }, (_, turn) => [
        update({ scan_seconds: 100 + turn }),
        server.admin.createPlan({ name: 'taken' }),
      ]).flat(),
    );
    expect(ends.map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, () => ['fulfilled', 'rejected']).flat(),
    );
    expect(await entries()).toBe(before + 20);
  });
});

describe('ports', () => {
  it('may be those that the server has now, but not those of other programs', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void other.close());
    const dataDir = await keptDataDir();
    // As the desktop app starts it: without flags.
    writeFileSync(join(dataDir, 'config.json'), '{ "port": 0, "admin_port": 0 }');
    const desk = await startTestServer({ dataDir, flags: { port: undefined, 'admin-port': undefined } });
    onTestFinished(() => desk.stop());

    const { port: taken } = other.address() as AddressInfo;
    const own = Number(new URL(desk.api).port);
    const change = (changes: Changes) => desk.admin.updateSettings({ changes });
    await expect(change({ port: taken })).rejects.toMatchObject({
      message: expect.stringContaining('another program is using it') as string,
      details: [{ reason: 'address_in_use', values: { address: `127.0.0.1:${taken}` } }],
    });
    await expect(change({ admin_port: taken })).rejects.toThrow('another program is using it');
    await expect(change({ port: own, admin_port: own })).rejects.toMatchObject({
      message: expect.stringContaining('different ports') as string,
      details: [{ path: 'admin_port', reason: 'same_port' }],
    });
    expect(await change({ port: own })).toMatchObject({ restart_needed: true });
  });
});

describe('a restart', () => {
  it('is left to the administrator if there is no supervisor', async () => {
    const reply = await callAdmin(server, 'restartServer');
    expectFailure(reply, 'invalid_request');
    expect((reply.body as { message: string }).message).toContain('start it again');
  });
});
