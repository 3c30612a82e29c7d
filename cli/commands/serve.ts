import type { Command } from 'commander';
import { addServerSettings, configOf } from '../setting-options.ts';

export function addServe(program: Command): void {
  addServerSettings(program.command('serve'))
    .description('run the service until it is told to stop; prints one line when it is ready')
    .option('--new-installation', 'start over with a new signing key where the database is lost')
    .action(async ({ newInstallation = false }: { newInstallation?: boolean }, command: Command) => {
      const config = configOf(command);
      const { serve } = await import('#server/process/serve.ts');
      await serve(config, { newInstallation });
    });
}
