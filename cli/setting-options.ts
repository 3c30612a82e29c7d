// The service's settings as options, made from the one table that declares them.
import { Option, type Command } from 'commander';
import { loadConfig, type Config } from '#server/platform/config.ts';
import { SETTINGS } from '#server/platform/settings.ts';
import { commandIo } from './command-io.ts';

type SettingName = keyof typeof SETTINGS;

/** What a command needs to find the data; `serve` alone takes the rest. */
const OF_EVERY_COMMAND: readonly SettingName[] = [
  'dataDir',
  'databaseUrl',
  'databaseUrlFile',
  'defaultProduct',
];
const NAMES = Object.keys(SETTINGS) as SettingName[];

function settingOption(name: SettingName): Option {
  const { flag, argument, help, env } = SETTINGS[name];
  return new Option(`--${flag} ${argument}`, `${help} (${env})`);
}

export function addGlobalSettings(program: Command): void {
  for (const name of OF_EVERY_COMMAND) program.addOption(settingOption(name));
}

export function addServerSettings(command: Command): Command {
  for (const name of NAMES) if (!OF_EVERY_COMMAND.includes(name)) command.addOption(settingOption(name));
  return command;
}

/**
 * The settings a command runs with: its options, the environment, `config.json` in the data directory, defaults.
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
