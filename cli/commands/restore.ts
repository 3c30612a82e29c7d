import { join } from 'node:path';
import type { Command } from 'commander';
import { printing, userName } from '../command-action.ts';
import { readPassphrase } from '../passphrase.ts';
import { configOf } from '../setting-options.ts';
import { instant } from '../text-layout.ts';

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('put a backup in the place of all that the data directory holds; no server may run on it')
    .argument('<file>', 'what `backup` wrote')
    .option('--passphrase-file <file>', 'the passphrase that the master key in it is sealed with; - is stdin')
    .action(
      printing(async (file: string, options: { passphraseFile?: string }, command: Command) => {
        const config = configOf(command);
        const passphrase = await readPassphrase(options.passphraseFile);
        const { restoreBackup } = await import('../../server/compose-restore.ts');
        const restored = await restoreBackup(config, { file, passphrase, userName: userName() });
        const { created_at, version } = restored.manifest;
        const before = restored.before && join(config.dataDir, restored.before);
        return {
          reply: { restored: { created_at, version, licenses: restored.licenses, before } },
          text:
            `${config.dataDir} is as it was at ${instant(created_at)}; licenses in it: ${restored.licenses}.\n` +
            'What happened after that is not known any more: look at what was revoked since then.' +
            (before === null
              ? ''
              : `\nWhat was here before is in ${before}; delete it when you need it no more.`),
        };
      }),
    );
}
