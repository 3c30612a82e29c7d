// The settings: their names, allowed values and defaults (contract, section 1).
import { join, resolve } from 'node:path';
import { ADMIN_SETTINGS } from './admin-settings.ts';
import { BACKUP_SETTINGS } from './backup-settings.ts';
import { directoryFrom, homeDirectory } from './os-user.ts';
import { REPLICA_SETTINGS } from './replica-settings.ts';
import { type Setting, setting, wholeNumber } from './setting.ts';
import {
  baseUrl,
  host,
  networks,
  POSTGRES_URL,
  postgresUrl,
  seconds,
  tls,
  type TlsSetting,
  trustProxy,
} from './setting-values.ts';

export type { Setting };

/** Declares `--retain-events-days` and similar settings. */
function retention(kind: string, fallback: number, help: string): Setting<number> {
  return {
    env: `LICENSE_DESK_RETAIN_${kind.toUpperCase()}_DAYS`,
    flag: `retain-${kind}-days`,
    argument: '<days>',
    help,
    ...wholeNumber(0, 36_500),
    fallback,
  };
}

/** Where the platform keeps user data, and the name of the directory there. */
function userDataDirectory(): [parent: string | null, name: string] {
  const inHome = (...names: string[]) => {
    const home = homeDirectory();
    return home && join(home, ...names);
  };
  if (process.platform === 'win32')
    return [directoryFrom('LOCALAPPDATA') ?? inHome('AppData', 'Local'), 'License Desk'];
  if (process.platform === 'darwin') return [inHome('Library', 'Application Support'), 'License Desk'];
  return [directoryFrom('XDG_DATA_HOME') ?? inHome('.local', 'share'), 'license-desk'];
}

/** Empty for a user without a home, as in a container, who has to set a directory. */
function defaultDataDirectory(): string {
  const [parent, name] = userDataDirectory();
  return parent === null ? '' : join(parent, name);
}

/** The setting's name in `config.json` and in the contract: its flag with `_` for `-`. */
export function settingKey({ flag }: Pick<Setting<unknown>, 'flag'>): string {
  return flag.replaceAll('-', '_');
}

/** Every setting except the master key, which is never on a command line or in a file that people edit. */
export const SETTINGS = {
  dataDir: setting<string>({
    env: 'LICENSE_DESK_DATA_DIR',
    flag: 'data-dir',
    argument: '<dir>',
    help: 'where database, keys, logs and the runtime file live',
    allowed: 'a directory',
    kind: 'path',
    parse: (text) => (text ? resolve(text) : undefined),
    fallback: defaultDataDirectory(),
  }),
  host: setting<string>({
    env: 'LICENSE_DESK_HOST',
    flag: 'host',
    argument: '<address>',
    help: 'API address; 0.0.0.0 opens the API to the network',
    allowed: 'an IP address without a zone, or a host name',
    kind: 'text',
    parse: host,
    fallback: '127.0.0.1',
  }),
  port: setting<number>({
    env: 'LICENSE_DESK_PORT',
    flag: 'port',
    argument: '<port>',
    help: 'API port; 0 chooses a free port',
    ...wholeNumber(0, 65_535),
    fallback: 8787,
  }),
  ...ADMIN_SETTINGS,
  baseUrl: setting<string | null>({
    env: 'LICENSE_DESK_BASE_URL',
    flag: 'base-url',
    argument: '<url>',
    help: 'public URL of the API, used in links and certificates',
    allowed: 'an http or https address without a user name, query or fragment',
    kind: 'text',
    parse: baseUrl,
    fallback: null,
  }),
  databaseUrl: setting<string | null>({
    env: 'LICENSE_DESK_DATABASE_URL',
    flag: 'database-url',
    argument: '<url>',
    help: 'PostgreSQL instead of SQLite in the data directory',
    allowed: POSTGRES_URL,
    kind: 'text',
    secret: true,
    parse: postgresUrl,
    fallback: null,
  }),
  defaultProduct: setting<string>({
    env: 'LICENSE_DESK_DEFAULT_PRODUCT',
    flag: 'default-product',
    argument: '<slug>',
    help: 'product for licenses and tokens that do not specify one',
    allowed: '1 to 64 lowercase letters, digits or hyphens',
    kind: 'text',
    parse: (text) => (/^[a-z0-9-]{1,64}$/u.test(text) ? text : undefined),
    fallback: 'my-product',
  }),
  tls: setting<TlsSetting>({
    env: 'LICENSE_DESK_TLS',
    flag: 'tls',
    argument: '<off|auto|CERT,KEY>',
    help: 'TLS for the API listener, from its own certificate authority or from PEM files',
    allowed: 'off, auto, or two PEM files as CERT,KEY',
    kind: 'choice',
    choices: ['off', 'auto'],
    parse: tls,
    fallback: { mode: 'off' },
  }),
  trustProxy: setting<false | number | string[]>({
    env: 'LICENSE_DESK_TRUST_PROXY',
    flag: 'trust-proxy',
    argument: '<proxies>',
    help: 'trusted proxies, whose X-Forwarded-For header identifies the client',
    allowed: 'off, on (one proxy), a number of proxies, or their addresses, but not 0.0.0.0/0 or ::/0',
    kind: 'choice',
    choices: ['off', 'on'],
    parse: trustProxy,
    fallback: false,
  }),
  rateLimit: setting<number>({
    env: 'LICENSE_DESK_RATE_LIMIT',
    flag: 'rate-limit',
    argument: '<calls>',
    help: 'calls a minute to /authorize/token/ per caller address; 0 turns off all rate limits that are not set explicitly',
    ...wholeNumber(0, 1_000_000),
    fallback: 60,
  }),
  rateLimitPublic: setting<number>({
    env: 'LICENSE_DESK_RATE_LIMIT_PUBLIC',
    flag: 'rate-limit-public',
    argument: '<calls>',
    help: 'calls a minute to all other public endpoints together, per caller address; 0 turns the limit off',
    ...wholeNumber(0, 1_000_000),
    fallback: 600,
  }),
  rateLimitActivations: setting<number>({
    env: 'LICENSE_DESK_RATE_LIMIT_ACTIVATIONS',
    flag: 'rate-limit-activations',
    argument: '<devices>',
    help: 'new devices a minute per license key; 0 turns the limit off',
    ...wholeNumber(0, 1_000_000),
    fallback: 120,
  }),
  licenseFileTtlDays: setting<number>({
    env: 'LICENSE_DESK_LICENSE_FILE_TTL_DAYS',
    flag: 'license-file-ttl-days',
    argument: '<days>',
    help: 'how long a license file from the API stays valid',
    ...wholeNumber(1, 36_500),
    fallback: 90,
  }),
  webhookBackoffSeconds: setting<number>({
    env: 'LICENSE_DESK_WEBHOOK_BACKOFF_SECONDS',
    flag: 'webhook-backoff-seconds',
    argument: '<seconds>',
    help: 'unit of the retry delays: 1, 2, 4, 8, 16 times this',
    allowed: 'seconds above 0',
    kind: 'number',
    parse: seconds,
    fallback: 60,
  }),
  webhookTimeoutSeconds: setting<number>({
    env: 'LICENSE_DESK_WEBHOOK_TIMEOUT_SECONDS',
    flag: 'webhook-timeout-seconds',
    argument: '<seconds>',
    help: 'how long a webhook receiver may take to answer',
    allowed: 'seconds above 0',
    kind: 'number',
    parse: seconds,
    fallback: 30,
  }),
  webhookAllow: setting<string[]>({
    env: 'LICENSE_DESK_WEBHOOK_ALLOW',
    flag: 'webhook-allow',
    argument: '<networks>',
    help: 'private networks that webhooks may reach besides public addresses',
    allowed: 'networks such as 10.0.0.0/8,fd00::/8',
    kind: 'list',
    parse: networks,
    fallback: [],
  }),
  webhookCa: setting<string | null>({
    env: 'LICENSE_DESK_WEBHOOK_CA',
    flag: 'webhook-ca',
    argument: '<file>',
    help: 'additional CA certificates to trust for webhook receivers',
    allowed: 'a PEM file',
    kind: 'path',
    parse: (text) => (text ? resolve(text) : undefined),
    fallback: null,
  }),
  scanSeconds: setting<number>({
    env: 'LICENSE_DESK_SCAN_SECONDS',
    flag: 'scan-seconds',
    argument: '<seconds>',
    help: 'how often licenses are scanned for expiring, in grace and expired',
    allowed: 'seconds above 0',
    kind: 'number',
    parse: seconds,
    fallback: 60,
  }),
  databaseUrlFile: setting<string | null>({
    env: 'LICENSE_DESK_DATABASE_URL_FILE',
    flag: 'database-url-file',
    argument: '<file>',
    help: 'file that holds the database URL, to keep its password off the command line',
    allowed: 'a file',
    kind: 'path',
    parse: (text) => (text ? resolve(text) : undefined),
    fallback: null,
  }),
  retainEventsDays: retention(
    'events',
    400,
    'how long events and their deliveries are kept; 0 keeps them forever',
  ),
  retainAttemptsDays: retention(
    'attempts',
    90,
    'how long delivery attempts and their replies are kept; 0 keeps them as long as their events',
  ),
  retainAuditDays: retention('audit', 0, 'how long audit entries are kept; 0 keeps them forever'),
  retainImportsDays: retention(
    'imports',
    30,
    'how long records of finished license imports are kept; 0 keeps them forever',
  ),
  retainRestoresDays: retention(
    'restores',
    30,
    'how long the before-restore-* folders of former restores are kept; 0 keeps them forever',
  ),
  ...BACKUP_SETTINGS,
  ...REPLICA_SETTINGS,
};

/** Where the data is. A restore keeps the present ones. */
export const DATABASE_SETTINGS = [
  SETTINGS.databaseUrl,
  SETTINGS.databaseUrlFile,
  SETTINGS.replicaDatabaseUrl,
  SETTINGS.replicaDatabaseUrlFile,
].map(settingKey);

/** @param file the settings by their keys in `config.json` */
export const withoutDatabaseSettings = (file: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(file).filter(([key]) => !DATABASE_SETTINGS.includes(key)));
