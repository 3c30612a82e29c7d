import type { Command } from 'commander';
import { addServerSettings, configOf } from '../setting-options.ts';

export function addServe(program: Command): void {
  addServerSettings(program.command('serve'))
    .description('run the service until it is told to stop; prints one line when it is ready')
    .action(async (_options: unknown, command: Command) => {
      const config = configOf(command);
      const { serve } = await import('../../server/serve.ts');
      await serve(config);
    });
}
