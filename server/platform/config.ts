// Loads the settings: command line, environment, `config.json` in the data directory, default (contract, section 1).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Setting, SETTINGS } from './settings.ts';

/** A setting that cannot be used; its message is one line that names the setting, the value and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type SettingName = keyof typeof SETTINGS;
type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;
export type Config = { [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> } & {
  /** 32 bytes, base64, from the environment; null: the key file in the data directory. */
  masterKey: string | null;
};

export interface ConfigSources {
  /** By flag name without dashes in front: `{'admin-port': '0'}`. */
  flags: Record<string, string | undefined>;
  env: Record<string, string | undefined>;
}

/** Of `config.json` in the data directory: setting names as the flags have them, with `_` for `-`. */
function readConfigFile(dataDir: string): Record<string, unknown> {
  const path = join(dataDir, 'config.json');
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const parsed: unknown = JSON.parse(content.replace(/^\uFEFF/u, ''));
    if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // Said below, as for any other content that is no JSON object.
  }
  throw new ConfigError(`${path} must hold one JSON object`);
}

function parseSetting<Value>(row: Setting<Value>, source: string, given: string): Value {
  const value = row.parse(given);
  if (value === undefined) {
    throw new ConfigError(`${source} is ${JSON.stringify(given)}, but must be ${row.allowed}`);
  }
  return value;
}

/**
 * Precedence: command line, environment, `config.json` in the data directory, default.
 * @throws ConfigError for the first value that is not allowed
 */
export function loadConfig(sources: ConfigSources): Config {
  const choose = <Value>(row: Setting<Value>, file: Record<string, unknown>): Value => {
    const flag = sources.flags[row.flag];
    if (flag !== undefined) return parseSetting(row, `--${row.flag}`, flag);
    const env = sources.env[row.env];
    if (env !== undefined && env !== '') return parseSetting(row, row.env, env);
    const name = row.flag.replaceAll('-', '_');
    const fromFile = file[name];
    if (fromFile === undefined) return row.fallback;
    const isOneValue = typeof fromFile === 'string' || typeof fromFile === 'number';
    // What is no single value is shown as it stands, and then refused as any other text would be.
    return parseSetting(
      row,
      `${name} in config.json`,
      isOneValue ? String(fromFile) : JSON.stringify(fromFile),
    );
  };
  const dataDir = choose(SETTINGS.dataDir, {});
  const file = readConfigFile(dataDir);
  for (const name of Object.keys(file)) {
    // The file cannot say where it is itself.
    const known = Object.values(SETTINGS).some(
      (row) => row !== SETTINGS.dataDir && row.flag.replaceAll('-', '_') === name,
    );
    if (!known) throw new ConfigError(`config.json has ${JSON.stringify(name)}, which is no setting`);
  }
  const chosen = Object.entries(SETTINGS).map(([name, row]) => [name, choose(row as Setting<unknown>, file)]);
  const config = { ...Object.fromEntries(chosen), dataDir } as Omit<Config, 'masterKey'>;
  return { ...config, masterKey: sources.env['LICENSE_DESK_MASTER_KEY'] || null };
}
