import type { Command } from 'commander';
import type {
  FileToReissue,
  PublicKeys,
  SigningKeyObject,
} from '#server/features/signing/signing-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { CommandFailure } from '../command-failure.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { day, listing, table, type Column } from '../text-layout.ts';

export function addSigningKeyCommands(program: Command): void {
  program
    .command('public-key')
    .description(
      'print the key that license files verify with, as PEM; with --json every key and the distrust list',
    )
    .option('--distrust-list', 'print the signed list of distrusted keys instead')
    .action(
      printing(async ({ distrustList }: { distrustList?: true }, command: Command) => {
        const reply = await withService(command, (client) => client.publicKey({}));
        if (distrustList !== true) return { reply, text: reply.public_key_pem };
        if (reply.distrust_list === null)
          throw new CommandFailure('not_found', 'there is no distrust list: no signing key is distrusted');
        return { reply, text: reply.distrust_list };
      }),
    );

  const signingKey = program
    .command('signing-key')
    .description('the keys that license files are signed with');

  signingKey
    .command('list')
    .description('list the signing keys, retired ones included')
    .action(
      calling(
        async (client) => ({ items: (await client.listSigningKeys({})).signing_keys, next_cursor: null }),
        listing('No signing keys.', LIST_COLUMNS),
      ),
    );

  signingKey
    .command('rotate')
    .description('make a new signing key; files signed with the old ones stay valid')
    .action(
      calling(
        (client) => client.rotateSigningKey({}),
        (reply) =>
          `License files are now signed with ${reply.key_id}.\n` +
          `Verifiers need its public key from now on, and the retired ones for older files:\n\n` +
          table(COLUMNS, reply.keys),
      ),
    );

  signingKey
    .command('distrust')
    .description('distrust a leaked signing key for good: every license file under it is refused')
    .argument('<key-id>', 'the key; if it is the active one, a new key replaces it first')
    .option('--reason <text>', 'why, for the audit log; it is not published')
    .action(
      calling(
        (client, keyId: string, { reason }: { reason?: string }) =>
          client.distrustSigningKey({ key_id: keyId, reason }),
        (reply) =>
          `License files under ${reply.distrusted.key_id} are refused from now on. This cannot be undone.\n` +
          `Devices and unbound files to reissue: ${reply.files_to_reissue} ` +
          `(license-desk signing-key files ${reply.distrusted.key_id})\n` +
          `License files are signed with ${reply.key_id}. Verifiers that work offline need its public key and\n` +
          `the distrust list (license-desk public-key --distrust-list).`,
      ),
    );

  addPageOptions(
    signingKey
      .command('files')
      .description('list the devices and licenses that hold a license file under a signing key')
      .argument('<key-id>', 'the key'),
  ).action(
    calling(
      (client, keyId: string, page: PageOptions) => client.listFilesToReissue({ key_id: keyId, ...page }),
      listing('No license files under this key.', FILE_COLUMNS),
    ),
  );
}

const FILE_COLUMNS: readonly Column<FileToReissue>[] = [
  { title: 'LICENSE KEY', value: (file) => file.license_key },
  { title: 'HOLDER', value: (file) => file.holder },
  { title: 'DEVICE', value: (file) => file.machine_name ?? file.machine_fingerprint ?? 'any' },
  { title: 'SINCE', value: (file) => day(file.since) },
  { title: 'KEY RECORDED', value: (file) => (file.recorded ? 'yes' : 'inferred') },
];

const LIST_COLUMNS: readonly Column<SigningKeyObject>[] = [
  { title: 'KEY ID', value: (key) => key.key_id },
  { title: 'STATUS', value: (key) => key.status },
  { title: 'CREATED', value: (key) => day(key.created_at) },
  { title: 'RETIRED', value: (key) => day(key.retired_at) },
  { title: 'DISTRUSTED', value: (key) => day(key.distrusted_at) },
  { title: 'PUBLIC KEY', value: (key) => key.public_key },
];

const COLUMNS: readonly Column<PublicKeys['keys'][number]>[] = [
  { title: 'KEY ID', value: (key) => key.key_id },
  { title: 'STATUS', value: (key) => key.status },
  { title: 'PUBLIC KEY', value: (key) => key.public_key },
];
