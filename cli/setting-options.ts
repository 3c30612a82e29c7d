// The service's settings as options, generated from the table that declares them.
import { InvalidArgumentError, Option, type Command } from 'commander';
import { loadConfig, type Config } from '#server/platform/config.ts';
import { type Setting, SETTINGS } from '#server/platform/settings.ts';
import { usageFailure } from './command-failure.ts';
import { commandIo } from './command-io.ts';

type SettingName = keyof typeof SETTINGS;

/** What every command needs to find the data; only `serve` takes the others. */
const OF_EVERY_COMMAND: readonly SettingName[] = [
  'dataDir',
  'databaseUrl',
  'databaseUrlFile',
  'defaultProduct',
];
const NAMES = Object.keys(SETTINGS) as SettingName[];

function settingOption(name: SettingName): Option {
  const { flag, argument, help, env } = SETTINGS[name];
  return new Option(`--${flag} ${argument}`, `${help} (${env})`).argParser((text) => checked(name, text));
}

/** The text itself, which `loadConfig` parses again. */
function checked(name: SettingName, text: string): string {
  const setting: Setting<unknown> = SETTINGS[name];
  if (setting.parse(text) !== undefined) return text;
  // Commander's error would show the value.
  if (setting.secret) throw usageFailure(`--${setting.flag} must be ${setting.allowed}`);
  const { allowed, range } = setting;
  throw new InvalidArgumentError(
    range ? `must be between ${range.min} and ${range.max}` : `must be ${allowed}`,
  );
}

export function addGlobalSettings(program: Command): void {
  for (const name of OF_EVERY_COMMAND) program.addOption(settingOption(name));
}

export function addServerSettings(command: Command): Command {
  for (const name of NAMES) if (!OF_EVERY_COMMAND.includes(name)) command.addOption(settingOption(name));
  return command;
}

/** The settings that are options of this command line, besides the data directory. */
export function settingsGivenTo(command: Command): Setting<unknown>[] {
  const options = command.optsWithGlobals<Record<string, string | undefined>>();
  return OF_EVERY_COMMAND.filter(
    (name) => name !== 'dataDir' && options[settingOption(name).attributeName()] !== undefined,
  ).map((name) => SETTINGS[name]);
}

/**
 * The settings of a command: from its options, the environment, `config.json` in the data directory, or the defaults.
 * @throws ConfigError
 */
export function configOf(command: Command): Config {
  const options = command.optsWithGlobals<Record<string, string | undefined>>();
  const flags = NAMES.map((name) => [SETTINGS[name].flag, options[settingOption(name).attributeName()]]);
  return loadConfig({
    flags: Object.fromEntries(flags) as Record<string, string | undefined>,
    env: commandIo().env,
  });
}
