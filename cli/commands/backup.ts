import type { Command } from 'commander';
import type { Manifest } from '../../server/backup/backup-format.ts';
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
    .description('write everything into one file; a server may run meanwhile')
    .requiredOption('--out <file>', 'a new file, which only you can read')
    .option(
      '--passphrase-file <file>',
      'seal the master key into it under the passphrase in this file; - is stdin',
    )
    .action(
      printing(async ({ out, passphraseFile }: BackupOptions, command: Command) => {
        const passphrase = await readPassphrase(passphraseFile);
        const file = await createSecretFile(out);
        try {
          await withService(command, async (_client, access) =>
            file.finish(await access.download('downloadBackup', passphrase === null ? {} : { passphrase })),
          );
          // What cannot be read back is no backup.
          const { readArchive } = await import('../../server/backup/backup-archive.ts');
          const manifest = await readArchive(out, null, () => {});
          return { reply: { backup: about(out, manifest) }, text: backupText(out, manifest) };
        } catch (error) {
          await file.discard();
          throw error;
        }
      }),
    );
}

function isKeySealedIn({ parts }: Manifest): boolean {
  return parts.some(({ name }) => name === 'master-key.json');
}

function about(file: string, manifest: Manifest) {
  const { version, schema, created_at, parts } = manifest;
  return { file, version, schema, created_at, parts, master_key: isKeySealedIn(manifest) };
}

function backupText(file: string, manifest: Manifest): string {
  const facts = block([
    ['File', file],
    ['Made', instant(manifest.created_at)],
    ['Version', manifest.version],
    ...manifest.parts.map(({ name, bytes }) => [name, `${bytes} bytes`] as const),
  ]);
  const key = isKeySealedIn(manifest)
    ? 'The master key is in it, sealed: keep the passphrase apart.'
    : 'The master key is not in it, and without that key nothing in it can be signed with: keep master.key apart.';
  return `${facts}\n\nEvery byte of it has been read back.\n${key}`;
}
