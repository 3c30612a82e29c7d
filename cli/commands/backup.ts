import type { Command } from 'commander';
import type { Manifest } from '#server/features/backup/backup-format.ts';
import { printing, withService } from '../command-action.ts';
import { readPassphrase } from '../passphrase.ts';
import { createSecretFile } from '../text-file.ts';
import { block, instant } from '../text-layout.ts';

interface BackupOptions {
  out: string;
  passphraseFile?: string;
}

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('back up the data directory and database to one file, also while the server runs')
    .requiredOption('--out <file>', 'new file to write, readable only by you')
    .option(
      '--passphrase-file <file>',
      'encrypt the backup with the passphrase in this file and include the master key (recommended); - is stdin',
    )
    .action(
      printing(async ({ out, passphraseFile }: BackupOptions, command: Command) => {
        const passphrase = await readPassphrase(passphraseFile);
        const file = await createSecretFile(out);
        try {
          await withService(command, async (_client, access) =>
            file.finish(await access.download('downloadBackup', passphrase === null ? {} : { passphrase })),
          );
          // Proves that the backup can be restored.
          const { readArchive } = await import('#server/features/backup/archive-reader.ts');
          const { manifest } = await readArchive(out, { passphrase, directory: null });
          const isEncrypted = passphrase !== null;
          return {
            reply: { backup: about(out, manifest, isEncrypted) },
            text: backupText(out, manifest, isEncrypted),
          };
        } catch (error) {
          await file.discard();
          throw error;
        }
      }),
    );
}

function about(file: string, manifest: Manifest, isEncrypted: boolean) {
  const { version, schema, created_at, parts } = manifest;
  const hasKey = parts.some(({ name }) => name === 'master.key');
  return { file, version, schema, created_at, parts, master_key: hasKey, encrypted: isEncrypted };
}

function backupText(file: string, manifest: Manifest, isEncrypted: boolean): string {
  const facts = block([
    ['File', file],
    ['Created', instant(manifest.created_at)],
    ['Version', manifest.version],
    ['Encrypted', isEncrypted ? 'yes' : 'no'],
    ...manifest.parts.map(({ name, bytes }) => [name, `${bytes} bytes`] as const),
  ]);
  const advice = isEncrypted
    ? 'The master key is included. Keep the passphrase separately: without it, the backup cannot be read.'
    : 'This backup is not encrypted. Anyone with the file can read it, and can alter it without being detected, so restoring it takes --accept-unsigned. ' +
      'The master key is not included: keep master.key separately. Use --passphrase-file to encrypt backups.';
  return `${facts}\n\nEvery byte has been read back and verified.\n${advice}`;
}
