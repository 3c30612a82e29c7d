import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, ConfigError, loadConfig } from '#server/platform/config.ts';
import { SETTINGS } from '#server/platform/settings.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'license-desk-settings-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

interface Sources {
  flags?: Record<string, string>;
  env?: Record<string, string>;
  file?: unknown;
}

/** @param file what config.json holds: a text as it is, anything else as JSON */
function load({ flags = {}, env = {}, file }: Sources = {}): Config {
  if (file !== undefined) {
    writeFileSync(join(dataDir, 'config.json'), typeof file === 'string' ? file : JSON.stringify(file));
  }
  return loadConfig({ flags: { 'data-dir': dataDir, ...flags }, env });
}

/** The one line that the start stops with. */
function refusal(sources: Sources): string {
  try {
    load(sources);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as ConfigError;
    expect(message).not.toContain('\n');
    return message;
  }
  throw new Error('it was not refused');
}

type Name = keyof typeof SETTINGS;

/** The contract's table, section 1: env, flag and default. */
const TABLE: [Name, string, string, unknown][] = [
  ['host', 'LICENSE_DESK_HOST', 'host', '127.0.0.1'],
  ['port', 'LICENSE_DESK_PORT', 'port', 8787],
  ['adminPort', 'LICENSE_DESK_ADMIN_PORT', 'admin-port', 8788],
  ['adminHost', 'LICENSE_DESK_ADMIN_HOST', 'admin-host', '127.0.0.1'],
  ['adminUrl', 'LICENSE_DESK_ADMIN_URL', 'admin-url', null],
  ['baseUrl', 'LICENSE_DESK_BASE_URL', 'base-url', null],
  ['databaseUrl', 'LICENSE_DESK_DATABASE_URL', 'database-url', null],
  ['databaseUrlFile', 'LICENSE_DESK_DATABASE_URL_FILE', 'database-url-file', null],
  ['replicaDatabaseUrl', 'LICENSE_DESK_REPLICA_DATABASE_URL', 'replica-database-url', null],
  ['replicaDatabaseUrlFile', 'LICENSE_DESK_REPLICA_DATABASE_URL_FILE', 'replica-database-url-file', null],
  ['replicaMaxLagSeconds', 'LICENSE_DESK_REPLICA_MAX_LAG_SECONDS', 'replica-max-lag-seconds', 10],
  ['defaultProduct', 'LICENSE_DESK_DEFAULT_PRODUCT', 'default-product', 'my-product'],
  ['tls', 'LICENSE_DESK_TLS', 'tls', { mode: 'off' }],
  ['trustProxy', 'LICENSE_DESK_TRUST_PROXY', 'trust-proxy', false],
  ['rateLimit', 'LICENSE_DESK_RATE_LIMIT', 'rate-limit', 60],
  ['rateLimitPublic', 'LICENSE_DESK_RATE_LIMIT_PUBLIC', 'rate-limit-public', 600],
  ['rateLimitActivations', 'LICENSE_DESK_RATE_LIMIT_ACTIVATIONS', 'rate-limit-activations', 120],
  ['webhookBackoffSeconds', 'LICENSE_DESK_WEBHOOK_BACKOFF_SECONDS', 'webhook-backoff-seconds', 60],
  ['webhookTimeoutSeconds', 'LICENSE_DESK_WEBHOOK_TIMEOUT_SECONDS', 'webhook-timeout-seconds', 30],
  ['webhookAllow', 'LICENSE_DESK_WEBHOOK_ALLOW', 'webhook-allow', []],
  ['webhookCa', 'LICENSE_DESK_WEBHOOK_CA', 'webhook-ca', null],
  ['scanSeconds', 'LICENSE_DESK_SCAN_SECONDS', 'scan-seconds', 60],
  ['retainEventsDays', 'LICENSE_DESK_RETAIN_EVENTS_DAYS', 'retain-events-days', 400],
  ['retainAttemptsDays', 'LICENSE_DESK_RETAIN_ATTEMPTS_DAYS', 'retain-attempts-days', 90],
  ['retainAuditDays', 'LICENSE_DESK_RETAIN_AUDIT_DAYS', 'retain-audit-days', 0],
  ['retainImportsDays', 'LICENSE_DESK_RETAIN_IMPORTS_DAYS', 'retain-imports-days', 30],
  ['retainRestoresDays', 'LICENSE_DESK_RETAIN_RESTORES_DAYS', 'retain-restores-days', 30],
];

/** For each setting: three texts, and what they mean. */
const VALUES: [Name, [string, unknown][]][] = [
  [
    'host',
    [
      ['0.0.0.0', '0.0.0.0'],
      ['::1', '::1'],
      ['license.lan', 'license.lan'],
    ],
  ],
  [
    'port',
    [
      ['0', 0],
      ['65535', 65_535],
      ['80', 80],
    ],
  ],
  [
    'adminPort',
    [
      ['0', 0],
      ['1', 1],
      ['9000', 9000],
    ],
  ],
  [
    'adminHost',
    [
      ['0.0.0.0', '0.0.0.0'],
      ['::', '::'],
      ['10.0.0.5', '10.0.0.5'],
    ],
  ],
  [
    'adminUrl',
    [
      ['https://Desk.Example.com/', 'https://desk.example.com'],
      ['https://desk.example.com:8443', 'https://desk.example.com:8443'],
      ['http://[::1]:9000', 'http://[::1]:9000'],
    ],
  ],
  [
    'baseUrl',
    [
      ['https://a.example', 'https://a.example'],
      ['http://b.example:8080/', 'http://b.example:8080'],
      ['https://c.example/x//', 'https://c.example/x'],
    ],
  ],
  [
    'databaseUrl',
    [
      ['postgres://u@h/d', 'postgres://u@h/d'],
      ['postgresql://h/d', 'postgresql://h/d'],
      ['postgres:///d', 'postgres:///d'],
    ],
  ],
  [
    'replicaDatabaseUrl',
    [
      ['postgres://u@h/d', 'postgres://u@h/d'],
      ['postgresql://h/d', 'postgresql://h/d'],
      ['postgres:///d', 'postgres:///d'],
    ],
  ],
  [
    'replicaMaxLagSeconds',
    [
      ['5', 5],
      ['10', 10],
      ['3600', 3600],
    ],
  ],
  [
    'defaultProduct',
    [
      ['imager', 'imager'],
      ['0-9', '0-9'],
      ['x'.repeat(64), 'x'.repeat(64)],
    ],
  ],
  [
    'tls',
    [
      ['c.pem,k.pem', { mode: 'files', certificate: 'c.pem', key: 'k.pem' }],
      ['auto', { mode: 'auto' }],
      ['/a b/c.pem, /k.pem', { mode: 'files', certificate: '/a b/c.pem', key: '/k.pem' }],
    ],
  ],
  [
    'trustProxy',
    [
      ['off', false],
      ['on', 1],
      ['10.0.0.1,fd00::/8', ['10.0.0.1', 'fd00::/8']],
    ],
  ],
  [
    'rateLimit',
    [
      ['0', 0],
      ['1000000', 1_000_000],
      ['3', 3],
    ],
  ],
  [
    'rateLimitPublic',
    [
      ['0', 0],
      ['1000000', 1_000_000],
      ['3', 3],
    ],
  ],
  [
    'rateLimitActivations',
    [
      ['0', 0],
      ['1000000', 1_000_000],
      ['3', 3],
    ],
  ],
  [
    'webhookBackoffSeconds',
    [
      ['0.01', 0.01],
      ['1', 1],
      ['3600', 3600],
    ],
  ],
  [
    'webhookTimeoutSeconds',
    [
      ['0.5', 0.5],
      ['1', 1],
      ['120', 120],
    ],
  ],
  [
    'webhookAllow',
    [
      ['10.0.0.0/8', ['10.0.0.0/8']],
      ['127.0.0.1, ::1/128', ['127.0.0.1', '::1/128']],
      ['192.168.0.0/16,fd00::/8', ['192.168.0.0/16', 'fd00::/8']],
    ],
  ],
  [
    'webhookCa',
    [
      ['/etc/ca.pem', '/etc/ca.pem'],
      ['ca.pem', resolve('ca.pem')],
      ['./x/../ca.pem', resolve('ca.pem')],
    ],
  ],
  [
    'scanSeconds',
    [
      ['0.05', 0.05],
      ['1', 1],
      ['86400', 86_400],
    ],
  ],
  [
    'retainEventsDays',
    [
      ['0', 0],
      ['30', 30],
      ['36500', 36_500],
    ],
  ],
  [
    'retainAttemptsDays',
    [
      ['0', 0],
      ['30', 30],
      ['36500', 36_500],
    ],
  ],
  [
    'retainAuditDays',
    [
      ['0', 0],
      ['30', 30],
      ['36500', 36_500],
    ],
  ],
  [
    'retainImportsDays',
    [
      ['0', 0],
      ['30', 30],
      ['36500', 36_500],
    ],
  ],
  [
    'retainRestoresDays',
    [
      ['0', 0],
      ['30', 30],
      ['36500', 36_500],
    ],
  ],
];

describe('the settings of the contract', () => {
  it.each(TABLE)('%s is %s and --%s', (name, env, flag, fallback) => {
    expect(SETTINGS[name]).toMatchObject({ env, flag });
    expect(load()[name]).toEqual(fallback);
  });

  it.each(VALUES)('%s: command line over environment over config.json over default', (name, values) => {
    const [[first, one], [second, two], [third, three]] = values as [
      [string, unknown],
      [string, unknown],
      [string, unknown],
    ];
    const { env, flag } = SETTINGS[name];
    const file = { [flag.replaceAll('-', '_')]: third };
    expect(load({ file })[name]).toEqual(three);
    expect(load({ file, env: { [env]: second } })[name]).toEqual(two);
    expect(load({ file, env: { [env]: second }, flags: { [flag]: first } })[name]).toEqual(one);
    expect(load({ file, flags: { [flag]: first } })[name]).toEqual(one);
    expect(load({ file, env: { [env]: '' } })[name]).toEqual(three);
  });

  it('the data directory comes from the command line, then the environment', () => {
    const other = join(dataDir, 'other');
    const env = { LICENSE_DESK_DATA_DIR: other };
    expect(loadConfig({ flags: {}, env }).dataDir).toBe(other);
    expect(loadConfig({ flags: { 'data-dir': dataDir }, env }).dataDir).toBe(dataDir);
    expect(loadConfig({ flags: { 'data-dir': 'relative' }, env: {} }).dataDir).toBe(resolve('relative'));
    expect(loadConfig({ flags: {}, env: {} }).dataDir).toMatch(/license-desk$|License Desk$/u);
  });

  it('the master key comes from the environment only', () => {
    expect(load().masterKey).toBeNull();
    expect(load({ env: { LICENSE_DESK_MASTER_KEY: 'key' } }).masterKey).toBe('key');
    expect(refusal({ file: { master_key: 'key' } })).toContain('master_key');
    expect(Object.values(SETTINGS).map(({ flag }) => flag)).not.toContain('master-key');
  });

  it.each([
    [' HTTPS://D.example:443/ ', 'https://d.example'],
    ['https://münchen.example/a b', 'https://xn--mnchen-3ya.example/a%20b'],
  ])('the public URL %j is written as browsers do', (text, url) => {
    expect(load({ env: { LICENSE_DESK_BASE_URL: text } }).baseUrl).toBe(url);
  });

  it('numbers may be numbers in config.json', () => {
    const file = { port: 0, rate_limit: 5, scan_seconds: 0.5 };
    expect(load({ file })).toMatchObject({ port: 0, rateLimit: 5, scanSeconds: 0.5 });
  });
});

/** Texts that a setting must not take, and a part of what its message says is allowed. */
const WRONG: [Name, string[], string][] = [
  ['dataDir', [''], 'directory'],
  [
    'host',
    ['', 'a b', '-x', 'http://x', '1.2.3.4:80', 'x/', '*', '::1%lo', 'fe80::1%eth0'],
    'IP address without a zone',
  ],
  ['port', ['', '-1', '65536', 'x', '80.5', ' 80', '0x50', '1e3', '99999999999', 'null'], '0 to 65535'],
  ['adminPort', ['', '-1', '65536', 'auto'], '0 to 65535'],
  [
    'adminHost',
    ['', 'localhost', 'desk.lan', '10.0.0', '0', '*', '10.0.0.0/8', '::1]', '::1%lo'],
    'an IP address without a zone',
  ],
  [
    'adminUrl',
    [
      '',
      'x',
      'desk.example.com',
      '//desk.example.com',
      'ftp://desk.example.com',
      'https://',
      'http://desk.example.com',
      'http://127.0.0.1.example.com',
      'http://localhost.example.com',
      'https://desk.example.com/x',
      'https://desk.example.com/?',
      'https://desk.example.com/#',
      'https://u@desk.example.com',
    ],
    'https address',
  ],
  [
    'baseUrl',
    ['', 'x', 'ftp://x', 'javascript:alert(1)', '//x', '/x', 'http://', 'http://u@x'],
    'http or https',
  ],
  ['databaseUrl', ['', 'mysql://x', 'x', 'sqlite:x.db', 'postgres:x'], 'postgres://'],
  ['databaseUrlFile', [''], 'a file'],
  ['replicaDatabaseUrl', ['', 'mysql://x', 'x', 'postgres:x'], 'postgres://'],
  ['replicaDatabaseUrlFile', [''], 'a file'],
  ['replicaMaxLagSeconds', ['', '4', '3601', '-1', '1.5'], '5 to 3600'],
  [
    'defaultProduct',
    ['', 'My Product', 'a_b', 'x'.repeat(65), 'a\nb'],
    'lowercase letters, digits or hyphens',
  ],
  ['tls', ['', 'on', 'AUTO', 'cert.pem', 'a,b,c', ',key.pem', 'cert.pem,'], 'off, auto, or two PEM files'],
  ['trustProxy', ['', 'yes', 'true', '0', '-1', '17', '10.0.0.0/33', 'proxy.lan', ','], 'off, on'],
  ['rateLimit', ['', '-1', '1.5', 'off', '1000001'], '0 to 1000000'],
  ['rateLimitPublic', ['', '-1', '1.5', 'off', '1000001'], '0 to 1000000'],
  ['rateLimitActivations', ['', '-1', '1.5', 'off', '1000001'], '0 to 1000000'],
  ['webhookBackoffSeconds', ['', '0', '-1', 'x', '1m', '1e3', '0.0'], 'above 0'],
  ['webhookTimeoutSeconds', ['', '0', '-1', 'Infinity'], 'above 0'],
  ['webhookAllow', ['x', '10.0.0.0/33', '10.0.0', '::1/129', '10.0.0.0/8/8', '10.0.0.0/'], 'networks'],
  ['webhookCa', [''], 'PEM'],
  ['scanSeconds', ['', '0', '-5', 'daily'], 'above 0'],
  ['retainEventsDays', ['', '-1', '1.5', '36501', 'forever'], '0 to 36500'],
  ['retainAttemptsDays', ['', '-1', '1.5', '36501', 'forever'], '0 to 36500'],
  ['retainAuditDays', ['', '-1', '1.5', '36501', 'forever'], '0 to 36500'],
  ['retainImportsDays', ['', '-1', '1.5', '36501', 'forever'], '0 to 36500'],
  ['retainRestoresDays', ['', '-1', '1.5', '36501', 'forever'], '0 to 36500'],
];

describe('a wrong value', () => {
  it.each(WRONG)(
    'of %s stops the start, and the line says which, what and what else',
    (name, texts, allowed) => {
      const { env, flag } = SETTINGS[name];
      for (const text of texts) {
        const byFlag = refusal({ flags: { [flag]: text } });
        for (const part of [`--${flag}`, JSON.stringify(text), allowed]) expect(byFlag).toContain(part);
        if (text === '') continue;
        const byEnv = refusal({ env: { [env]: text } });
        for (const part of [env, JSON.stringify(text), allowed]) expect(byEnv).toContain(part);
        const key = flag.replaceAll('-', '_');
        const byFile = refusal({ file: { [key]: text } });
        for (const part of ['config.json', key, JSON.stringify(text), allowed])
          expect(byFile).toContain(part);
      }
    },
  );

  it.each(['mysql://desk:hidden@db/desk', 'postgres:desk:hidden@db', 'desk:hidden@db'])(
    'is told without the password in it: %s',
    (text) => {
      expect(refusal({ env: { LICENSE_DESK_DATABASE_URL: text } })).not.toContain('hidden');
      expect(refusal({ file: { database_url: text } })).not.toContain('hidden');
      expect(refusal({ flags: { 'database-url': text } })).not.toContain('hidden');
      expect(refusal({ env: { LICENSE_DESK_BASE_URL: 'ftp://desk:hidden@x' } })).not.toContain('hidden');
    },
  );

  it('counts even where another source outranks it… but for the one that is used', () => {
    expect(load({ flags: { port: '1' }, env: { LICENSE_DESK_PORT: 'nonsense' } }).port).toBe(1);
  });

  it.each([
    { port: null },
    { port: true },
    { port: [80] },
    { port: { value: 80 } },
    { port: -1 },
    { port: 1.5 },
    { port: 1e21 },
    { host: ['localhost'] },
    { default_product: 5.5 },
    { rate_limit: false },
    { trust_proxy: null },
  ])('of a wrong type in config.json, too: %j', (file) => {
    expect(refusal({ file })).toContain(Object.keys(file)[0]);
  });
});

describe('config.json', () => {
  it.each(['prot', 'admin-port', 'adminPort', 'PORT', 'constructor', '__proto__', ''])(
    'knows no "%s"',
    (name) => {
      expect(refusal({ file: `{${JSON.stringify(name)}: 1}` })).toContain(JSON.stringify(name));
    },
  );

  it('cannot say where it is', () => {
    expect(refusal({ file: { data_dir: '/elsewhere' } })).toContain('data_dir');
  });

  it.each(['', '{', '[]', 'null', '"text"', '5', '{"port": 1,}', '\ufeff\u0000'])(
    'must be one JSON object: %j',
    (file) => {
      expect(refusal({ file })).toContain(join(dataDir, 'config.json'));
    },
  );

  it('may be absent, empty, or begin with a byte order mark as Windows editors write it', () => {
    expect(load().port).toBe(8787);
    expect(load({ file: {} }).port).toBe(8787);
    expect(load({ file: '\ufeff{"port": 5}' }).port).toBe(5);
  });

  it('that cannot be read is reported', () => {
    rmSync(join(dataDir, 'config.json'), { force: true });
    const inTheWay = join(dataDir, 'file');
    writeFileSync(inTheWay, '');
    expect(() => loadConfig({ flags: { 'data-dir': inTheWay }, env: {} })).toThrow(ConfigError);
  });
});
