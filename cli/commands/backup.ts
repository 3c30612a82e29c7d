import type { Command } from 'commander';
import type { Manifest } from '#server/features/backup/backup-format.ts';
import type { RestoreOverview } from '#server/features/backup/restore-contract.ts';
import type { BackupStatus } from '#server/features/backup/backup-status-contract.ts';
import { counted } from '#server/wire/counted.ts';
import { calling, printing, withService } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import { newFile } from '../option-values.ts';
import { readPassphrase } from '../passphrase.ts';
import { createSecretFile } from '../text-file.ts';
import { block, instant } from '../text-layout.ts';

interface BackupOptions {
  out?: string;
  passphraseFile?: string;
}

export function addBackup(program: Command): void {
  const backup = program
    .command('backup')
    .description('back up the data directory and database to one file, even while the server is running')
    .option('--out <file>', 'new file to write, readable only by you; required', newFile)
    .option(
      '--passphrase-file <file>',
      'encrypt the backup with the passphrase in this file and include the master key (recommended); - is stdin',
    )
    .action(
      printing(async ({ out, passphraseFile }: BackupOptions, command: Command) => {
        // Not required by commander, which would require it of `backup status` as well.
        if (out === undefined) throw usageFailure('--out <file> is required');
        const passphrase = await readPassphrase(passphraseFile);
        const file = await createSecretFile(out);
        try {
          await withService(command, async (_client, access) =>
            file.write(await access.download('downloadBackup', passphrase === null ? {} : { passphrase })),
          );
          // Proves that the backup can be restored.
          const { readArchive } = await import('#server/features/backup/archive-reader.ts');
          const { manifest } = await readArchive(out, { passphrase, directory: null });
          file.keep();
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

  backup
    .command('status')
    .description('show the last backup, the daily schedule, the next backup and the last restore')
    .action(
      printing(async (_options: unknown, command: Command) =>
        withService(command, async (client) => {
          const status = await client.showBackups({});
          const { last, staged, canceled } = await client.showRestore({});
          const restore = { last, staged, canceled };
          return { reply: { ...status, restore }, text: statusText(status, restore) };
        }),
      ),
    );

  backup
    .command('run')
    .description('write a backup to the backup folder now, as the daily schedule does')
    .action(
      calling(
        (client) => client.runBackup({}),
        (status) => statusText(status),
      ),
    );
}

function scheduleText({ schedule, hour, time_zone }: BackupStatus): string {
  if (schedule === 'daily') return `daily at ${String(hour).padStart(2, '0')}:00 (${time_zone})`;
  return schedule === 'off' ? 'off; license-desk settings set backup_schedule daily turns it on' : schedule;
}

type Restores = Pick<RestoreOverview, 'last' | 'staged' | 'canceled'>;

function restoreLines({ last, staged, canceled }: Restores): (readonly [string, string | null])[] {
  return [
    ...(last
      ? [['Last restore', `${instant(last.restored_at)}, to ${instant(last.created_at)}`] as const]
      : []),
    ...(last?.before ? [['Data before it', last.before] as const] : []),
    ...(canceled
      ? [['Canceled restore', `${instant(canceled.canceled_at)}: ${canceled.reason}`] as const]
      : []),
    ...(staged ? [['Confirmed restore', 'is waiting for a restart of the server'] as const] : []),
  ];
}

function statusText(
  status: BackupStatus,
  restores: Restores = { last: null, staged: null, canceled: null },
): string {
  const { last, failure, folder, keep, encrypted } = status;
  const lastText =
    last && `${instant(last.at)}, ${last.bytes} bytes, ${last.encrypted ? '' : 'not '}encrypted`;
  return block([
    ['Last backup', lastText ?? 'none'],
    ['Written to', last && (last.path ?? 'a downloaded file')],
    ['Schedule', scheduleText(status)],
    ['Folder', folder ?? 'not set'],
    ['Keeps', folder && `${counted(keep, 'backup')}, ${encrypted ? 'encrypted' : 'not encrypted'}`],
    ['Next backup', status.running ? 'in progress' : status.next_at && instant(status.next_at)],
    ['Failed', failure && `${instant(failure.at)}, attempt ${failure.attempts}: ${failure.message}`],
    ...restoreLines(restores),
  ]);
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
