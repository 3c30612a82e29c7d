import type { Command } from 'commander';
import { addServerSettings, configOf } from '../setting-options.ts';

export function addServe(program: Command): void {
  addServerSettings(program.command('serve'))
    .description('run the server; prints one line of JSON when it is ready')
    .option(
      '--new-installation',
      'create a new database and signing key even if the data directory already belongs to an installation',
    )
    .action(async ({ newInstallation = false }: { newInstallation?: boolean }, command: Command) => {
      const { serve } = await import('#server/process/serve.ts');
      await serve(() => configOf(command), { newInstallation });
    });
}
