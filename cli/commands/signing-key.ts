import type { Command } from 'commander';
import type {
  FileToReissue,
  PublicKeys,
  SigningKeyObject,
} from '#server/features/signing/signing-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { addConfirmation } from '../confirmation.ts';
import { CommandFailure } from '../command-failure.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { day, listing, table, type Column } from '../text-layout.ts';

export function addSigningKeyCommands(program: Command): void {
  program
    .command('public-key')
    .description(
      'print the public key that verifies license files, as PEM; --json lists all keys and the distrust list',
    )
    .option('--distrust-list', 'print the signed list of distrusted keys instead')
    .action(
      printing(async ({ distrustList }: { distrustList?: true }, command: Command) => {
        const reply = await withService(command, (client) => client.publicKey({}));
        if (distrustList !== true) return { reply, text: reply.public_key_pem };
        if (reply.distrust_list === null)
          throw new CommandFailure(
            'not_found',
            'there is no distrust list, because no signing key is distrusted',
          );
        return { reply, text: reply.distrust_list };
      }),
    );

  const signingKey = program.command('signing-key').description('keys that sign license files');

  signingKey
    .command('list')
    .description('list signing keys, including retired ones')
    .action(
      calling(
        async (client) => ({ items: (await client.listSigningKeys({})).signing_keys, next_cursor: null }),
        listing('No signing keys.', LIST_COLUMNS),
      ),
    );

  signingKey
    .command('rotate')
    .description('create a new signing key; existing license files stay valid')
    .action(
      calling(
        (client) => client.rotateSigningKey({}),
        (reply) =>
          `License files are now signed with ${reply.key_id}.\n` +
          `Give verifiers its public key. Older license files still need the retired keys:\n\n` +
          table(COLUMNS, reply.keys),
      ),
    );

  addConfirmation(signingKey.command('distrust'))
    .description('distrust a leaked signing key permanently: all license files signed with it are refused')
    .argument('<key-id>', 'ID of the key; an active key is replaced first')
    .option('--reason <text>', 'reason for the audit log; not published')
    .action(
      calling(
        (client, keyId: string, { reason }: { reason?: string }) =>
          client.distrustSigningKey({ key_id: keyId, reason }),
        (reply) =>
          `License files under ${reply.distrusted.key_id} are refused from now on. This cannot be undone.\n` +
          `License and lease files to reissue: ${reply.files_to_reissue} ` +
          `(license-desk signing-key files ${reply.distrusted.key_id})\n` +
          `License files are now signed with ${reply.key_id}. Offline verifiers need its public key and\n` +
          `the distrust list (license-desk public-key --distrust-list).`,
        {
          confirm: (keyId: string) =>
            `Distrust signing key ${keyId}? All its license files will be refused. This cannot be undone.`,
        },
      ),
    );

  addPageOptions(
    signingKey
      .command('files')
      .description('list devices, licenses and borrowed seats whose file is signed with a key')
      .argument('<key-id>', 'ID of the key'),
  ).action(
    calling(
      (client, keyId: string, page: PageOptions) => client.listFilesToReissue({ key_id: keyId, ...page }),
      listing('No file in use is signed with this key.', FILE_COLUMNS),
    ),
  );
}

const FILE_COLUMNS: readonly Column<FileToReissue>[] = [
  { title: 'LICENSE KEY', value: (file) => file.license_key },
  { title: 'HOLDER', value: (file) => file.holder },
  {
    title: 'DEVICE',
    value: (file) => file.machine_name ?? file.host ?? file.machine_fingerprint ?? 'any',
  },
  { title: 'SINCE', value: (file) => day(file.since) },
  { title: 'NEWER FILE', value: (file) => day(file.newer_file_at) },
  { title: 'LEASE', value: (file) => file.lease_id },
  { title: 'BORROWED UNTIL', value: (file) => day(file.borrowed_until) },
  { title: 'KEY RECORDED', value: (file) => (file.recorded ? 'yes' : 'inferred'), wideOnly: true },
];

const LIST_COLUMNS: readonly Column<SigningKeyObject>[] = [
  { title: 'KEY ID', value: (key) => key.key_id },
  { title: 'STATUS', value: (key) => key.status },
  { title: 'CREATED', value: (key) => day(key.created_at) },
  { title: 'RETIRED', value: (key) => day(key.retired_at) },
  { title: 'DISTRUSTED', value: (key) => day(key.distrusted_at) },
  { title: 'PUBLIC KEY', value: (key) => key.public_key, wideOnly: true },
];

const COLUMNS: readonly Column<PublicKeys['keys'][number]>[] = [
  { title: 'KEY ID', value: (key) => key.key_id },
  { title: 'STATUS', value: (key) => key.status },
  { title: 'PUBLIC KEY', value: (key) => key.public_key, wideOnly: true },
];
