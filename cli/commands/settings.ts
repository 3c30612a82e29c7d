import type { Command } from 'commander';
import type { SettingObject, SettingsObject } from '#server/features/settings/settings-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { CommandFailure } from '../command-failure.ts';
import { block, table, type Column } from '../text-layout.ts';

const NAME_HELP = 'name of the setting, such as webhook_allow';

export function addSettingsCommands(program: Command): void {
  const settings = program.command('settings').description('settings of the server');

  settings
    .command('list')
    .description('list all settings with their values, sources and values after the next start')
    .action(calling((client) => client.showSettings({}), settingsText));

  settings
    .command('get')
    .description('show one setting')
    .argument('<name>', NAME_HELP)
    .action(
      printing(async (name: string, _options: unknown, command: Command) => {
        const reply = await withService(command, (client) => client.showSettings({}));
        const setting = reply.settings.find((one) => one.name === settingName(name));
        if (setting) return { reply: { setting }, text: settingBlock(setting) };
        const message = `${name} is not a setting; license-desk settings list shows all of them`;
        throw new CommandFailure('not_found', message);
      }),
    );

  settings
    .command('set')
    .description('set a value in config.json; takes effect at the next start')
    .argument('<name>', NAME_HELP)
    .argument('<value>', 'value, as for the option of serve')
    .action(
      calling(
        (client, name: string, value: string) =>
          client.updateSettings({ changes: { [settingName(name)]: value } }),
        settingsText,
      ),
    );

  settings
    .command('unset')
    .description('remove a setting from config.json; takes effect at the next start')
    .argument('<name>', NAME_HELP)
    .action(
      calling(
        (client, name: string) => client.updateSettings({ changes: { [settingName(name)]: null } }),
        settingsText,
      ),
    );
}

/** Accepts the form of the option, too. */
function settingName(text: string): string {
  return text.replace(/^--/u, '').replaceAll('-', '_');
}

const COLUMNS: readonly Column<SettingObject>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value, max: 80 },
  { title: 'SOURCE', value: ({ source }) => source },
  {
    title: 'NEXT START',
    value: ({ value, next_value: next }) => (next === value ? '' : (next ?? 'not set')),
    max: 80,
  },
];

function settingBlock(setting: SettingObject): string {
  return block([
    ['Name', setting.name],
    ['Value', setting.value],
    ['Next start', setting.next_value],
    ['Default', setting.default],
    ['Source', setting.source],
    ['Allowed', setting.allowed],
    ['Description', setting.description],
    ['Option', setting.flag],
    ['Environment', setting.env],
  ]);
}

function settingsText(reply: SettingsObject): string {
  const problem = reply.config_problem;
  return [
    table(COLUMNS, reply.settings),
    '',
    `Configuration file: ${reply.config_file}`,
    ...reply.warnings.map(({ message }) => `Warning: ${message}.`),
    ...(reply.restart_needed ? [reply.restart_advice] : []),
    ...(problem === null ? [] : [`The next start will fail: ${problem}`]),
  ].join('\n');
}
