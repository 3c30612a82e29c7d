import { join } from 'node:path';
import type { Command } from 'commander';
import type { RestorePreview } from '#server/features/backup/restore-preview.ts';
import { osUserName } from '#server/platform/os-user.ts';
import { printing } from '../command-action.ts';
import { CommandFailure } from '../command-failure.ts';
import { commandIo } from '../command-io.ts';
import { confirms, hasTerminal } from '../confirmation.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { readPassphrase } from '../passphrase.ts';
import { previewText, revivedText } from '../restore-text.ts';
import { configOf } from '../setting-options.ts';
import { instant } from '../text-layout.ts';

interface RestoreOptions {
  passphraseFile?: string;
  acceptUnsigned?: true;
  replaceDatabase?: true;
  yes?: true;
}

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('replace the data directory and database with a backup; stop the server first')
    .argument('<file>', 'backup file')
    .option('--passphrase-file <file>', 'file that holds the passphrase of the backup; - is stdin')
    .option('--accept-unsigned', 'restore a backup without a passphrase, which anyone may have altered')
    .option(
      '--replace-database',
      "also replace a PostgreSQL database that contains data but was never used with this data directory; or restore into SQLite if the installation's PostgreSQL database is lost",
    )
    .option('--yes', 'do not ask for confirmation; required without a terminal')
    .action(
      printing(async (file: string, options: RestoreOptions, command: Command) => {
        const config = configOf(command);
        const passphrase = await readPassphrase(options.passphraseFile);
        const { openRestore } = await import('#server/wiring/compose-restore.ts');
        const request = { file, passphrase, acceptUnsigned: options.acceptUnsigned ?? false };
        const opened = await openRestore(config, request, osUserName(), options);
        try {
          const { preview } = opened;
          if (!options.yes) await confirmRestore(config.dataDir, preview);
          const { before: folder } = await opened.commit();
          const { created_at, version, counts } = preview;
          const before = folder && join(config.dataDir, folder);
          return {
            reply: { restored: { created_at, version, licenses: counts.licenses, before }, preview },
            text: [
              // Otherwise the question has shown it.
              options.yes ? previewText(preview) : revivedText(preview),
              `${config.dataDir} is restored to ${instant(created_at)}.`,
              ...(before === null
                ? []
                : [`The previous data is in ${before}. Delete it when you no longer need it.`]),
            ].join('\n\n'),
          };
        } finally {
          await opened.close();
        }
      }),
    );
}

/** @throws CommandFailure unless a person at the terminal agrees */
async function confirmRestore(dataDir: string, preview: RestorePreview): Promise<void> {
  if (!hasTerminal()) {
    throw new CommandFailure(
      'invalid_request',
      'restore asks for confirmation, and there is no terminal to ask on; add --yes to restore without asking',
      { exitCode: EXIT_CODES.usage, report: { fields: { preview }, text: previewText(preview) } },
    );
  }
  commandIo().stderr.write(`${previewText(preview)}\n\n`);
  if (await confirms(`Replace everything in ${dataDir} with this backup?`)) return;
  throw new CommandFailure('invalid_request', 'restore canceled; nothing has changed');
}
