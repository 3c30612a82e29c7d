import type { Command } from 'commander';
import type { SettingObject, SettingsObject } from '#server/features/settings/settings-contract.ts';
import { calling } from '../command-action.ts';
import { table, type Column } from '../text-layout.ts';

export function addSettingsCommands(program: Command): void {
  const settings = program.command('settings').description('what the server runs with, and will run with');

  settings
    .command('list')
    .description('list every setting, who says it, and what the next start will take')
    .action(calling((client) => client.showSettings({}), settingsText));

  settings
    .command('set')
    .description('set one in config.json; it holds from the next start on')
    .argument('<name>', 'such as webhook_allow')
    .argument('<value>', 'as it would be given to its flag')
    .action(
      calling(
        (client, name: string, value: string) =>
          client.updateSettings({ changes: { [settingName(name)]: value } }),
        settingsText,
      ),
    );

  settings
    .command('unset')
    .description('take one out of config.json')
    .argument('<name>', 'such as webhook_allow')
    .action(
      calling(
        (client, name: string) => client.updateSettings({ changes: { [settingName(name)]: null } }),
        settingsText,
      ),
    );
}

/** As its flag has it is good, too. */
function settingName(text: string): string {
  return text.replace(/^--/u, '').replaceAll('-', '_');
}

const COLUMNS: readonly Column<SettingObject>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value },
  { title: 'SOURCE', value: ({ source }) => source },
  {
    title: 'NEXT START',
    value: ({ value, next_value: next }) => (next === value ? '' : (next ?? 'nothing')),
  },
];

function settingsText({
  settings,
  config_file,
  config_problem,
  warnings,
  restart_needed,
  restart_advice,
}: SettingsObject) {
  return [
    table(COLUMNS, settings),
    '',
    `Settings are read from ${config_file}.`,
    ...warnings.map(({ message }) => `Warning: ${message}.`),
    ...(restart_needed ? [restart_advice] : []),
    ...(config_problem === null ? [] : [`The next start would stop: ${config_problem}`]),
  ].join('\n');
}
