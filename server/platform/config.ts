// Loads the settings: command line, environment, `config.json` in the data directory, default (contract, section 1).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowedRule } from './allowed-rule.ts';
import { holdsPassword, maskPasswords, maskSecret } from './mask-passwords.ts';
import { type Setting, settingKey, SETTINGS } from './settings.ts';
import { OperatorError, type OperatorErrorOptions, type RefusalCause } from './operator-error.ts';
import { pathRule } from './rule-error.ts';

interface ConfigErrorOptions extends OperatorErrorOptions {
  setting?: string;
}

/** A setting has an invalid value. The message is one line with the setting, the value and what is allowed. */
export class ConfigError extends OperatorError {
  override readonly name: string = 'ConfigError';
  override readonly refusal: RefusalCause = 'settings';
  /** The setting that breaks the rule, by its name in `config.json`; null if the rule names what it is about. */
  readonly setting: string | null;

  constructor(message: string, { setting, ...options }: ConfigErrorOptions = {}) {
    super(message, options);
    this.setting = setting ?? null;
  }
}

/** Not a setting, so that the master key never appears on a command line or in a file that people edit. */
export const MASTER_KEY_ENV = 'LICENSE_DESK_MASTER_KEY';
/** The desktop app says so beside a master key that it keeps itself. */
export const KEPT_BY_APP_ENV = 'LICENSE_DESK_MASTER_KEY_KEPT_BY_APP';

export type SettingName = keyof typeof SETTINGS;
type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;

/** The source and text of a setting; without text if it is the default. */
export type Given = { source: 'flag' | 'environment' | 'file'; text: string } | { source: 'default' };

export type SettingValues = { [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };

export type Config = SettingValues & {
  /** 32 bytes, base64, from the environment; null for the key file in the data directory. */
  masterKey: string | null;
  /** Then the app takes over a key file that a restore has put into the data directory, before it starts the server again. */
  isKeyKeptByApp: boolean;
  given: Readonly<Record<SettingName, Given>>;
};

export interface ConfigSources {
  /** By flag name without leading dashes: `{'admin-port': '0'}`. */
  flags: Record<string, string | undefined>;
  env: Record<string, string | undefined>;
}

/** The contents of `config.json`, by the names that `settingKey` gives. */
export type ConfigFile = Record<string, unknown>;

export function configFilePath(dataDir: string): string {
  return join(dataDir, 'config.json');
}

/** @returns an empty object if the file is missing @throws ConfigError if it cannot be read, or is not a JSON object */
export function readConfigFile(dataDir: string): ConfigFile {
  const path = configFilePath(dataDir);
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`, {
      rule: pathRule(error, path),
    });
  }
  try {
    const parsed: unknown = JSON.parse(content.replace(/^\uFEFF/u, ''));
    if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) return parsed as ConfigFile;
  } catch {
    // Reported below, like any other content that is not a JSON object.
  }
  throw new ConfigError(`${path} must contain one JSON object`, { rule: { reason: 'not_a_json_object' } });
}

/** @throws ConfigError that names the first unknown member */
export function refuseUnknown(file: ConfigFile): void {
  for (const name of Object.keys(file)) {
    // The file cannot contain its own location.
    const known = Object.values(SETTINGS).some((row) => row !== SETTINGS.dataDir && settingKey(row) === name);
    if (!known)
      throw new ConfigError(
        `config.json has the unknown setting ${JSON.stringify(name)}; correct or remove it`,
        { setting: name, rule: { reason: 'unknown_setting' } },
      );
  }
}

/** Precedence: command line, environment, `config.json` in the data directory, default. */
export function givenBy(row: Setting<unknown>, sources: ConfigSources, file: ConfigFile): Given {
  const flag = sources.flags[row.flag];
  if (flag !== undefined) return { source: 'flag', text: flag };
  const env = sources.env[row.env];
  if (env !== undefined && env !== '') return { source: 'environment', text: env };
  const fromFile = file[settingKey(row)];
  if (fromFile === undefined) return { source: 'default' };
  const isOneValue = typeof fromFile === 'string' || typeof fromFile === 'number';
  // An array or object is shown as JSON and then rejected like any other invalid text.
  return { source: 'file', text: isOneValue ? String(fromFile) : JSON.stringify(fromFile) };
}

/** @throws ConfigError if it is not allowed */
export function parseGiven<Value>(row: Setting<Value>, given: Given): Value {
  if (given.source === 'default') return row.fallback;
  if (row.secret && given.source === 'flag' && holdsPassword(given.text)) {
    throw new ConfigError(
      `--${row.flag} contains a password, which every user of this machine can see in the process list; use ` +
        `${row.env}, ${settingKey(row)} in config.json, or --${row.flag}-file`,
    );
  }
  const value = row.parse(given.text);
  if (value !== undefined) return value;
  const where = { flag: `--${row.flag}`, environment: row.env, file: `${settingKey(row)} in config.json` };
  const shown = row.secret ? maskSecret(given.text) : maskPasswords(given.text);
  throw new ConfigError(`${where[given.source]} is ${JSON.stringify(shown)}, but must be ${row.allowed}`, {
    setting: settingKey(row),
    rule: allowedRule(row),
  });
}

/** @throws ConfigError for the first invalid value */
export function loadConfig(sources: ConfigSources): Config {
  const dataDir = parseGiven(SETTINGS.dataDir, givenBy(SETTINGS.dataDir, sources, {}));
  if (dataDir === '') {
    const { flag, env } = SETTINGS.dataDir;
    throw new ConfigError(`this user has no home directory; set a data directory with --${flag} or ${env}`);
  }
  const file = readConfigFile(dataDir);
  refuseUnknown(file);
  const rows = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][];
  const given = rows.map(([name, row]) => [name, givenBy(row, sources, file)] as const);
  const values = given.map(([name, said]) => [name, parseGiven(SETTINGS[name] as Setting<unknown>, said)]);
  return {
    ...(Object.fromEntries(values) as SettingValues),
    masterKey: sources.env[MASTER_KEY_ENV] || null,
    isKeyKeptByApp: Boolean(sources.env[KEPT_BY_APP_ENV]),
    given: Object.fromEntries(given) as Record<SettingName, Given>,
  };
}
