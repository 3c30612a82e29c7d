// Installs the server as a service of the operating system, and removes it.
import type { Command } from 'commander';
import { printing } from '../command-action.ts';
import type { ServiceOptions } from '../service/service-actions.ts';

/** Loaded when it is used, as all commands share one program. */
const perform = (name: 'install' | 'uninstall' | 'status') =>
  printing(async (options: ServiceOptions, command: Command) => {
    const actions = await import('../service/service-actions.ts');
    return actions[name](options, command);
  });

function addOptions(command: Command): Command {
  return command
    .option('--user', 'as your own user, instead of for the whole computer')
    .option('--name <name>', 'name of the service', 'license-desk');
}

export function addServiceCommands(program: Command): void {
  const group = program.command('service').description('run the server as a service of the operating system');
  const dryRunOption = ['--dry-run', 'print what would be written and run; change nothing'] as const;
  addOptions(group.command('install'))
    .description('install and start the service; run it again after an update')
    .option(...dryRunOption)
    .action(perform('install'));
  addOptions(group.command('uninstall'))
    .description('stop and remove the service; the data stays')
    .option(...dryRunOption)
    .action(perform('uninstall'));
  addOptions(group.command('status'))
    .description('show whether the service is installed and running, and its API address')
    .action(perform('status'));
}
