import type { Command } from 'commander';
import type { PublicKeys, SigningKeyObject } from '../../server/signing/signing-contract.ts';
import { calling } from '../command-action.ts';
import { day, listing, table, type Column } from '../text-layout.ts';

export function addSigningKeyCommands(program: Command): void {
  program
    .command('public-key')
    .description('print the key that license files verify with, as PEM; with --json the retired keys too')
    .action(
      calling(
        (client) => client.publicKey({}),
        (reply) => reply.public_key_pem,
      ),
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
}

const LIST_COLUMNS: readonly Column<SigningKeyObject>[] = [
  { title: 'KEY ID', value: (key) => key.key_id },
  { title: 'STATUS', value: (key) => key.status },
  { title: 'CREATED', value: (key) => day(key.created_at) },
  { title: 'RETIRED', value: (key) => day(key.retired_at) },
  { title: 'PUBLIC KEY', value: (key) => key.public_key },
];

const COLUMNS: readonly Column<PublicKeys['keys'][number]>[] = [
  { title: 'KEY ID', value: (key) => key.key_id },
  { title: 'STATUS', value: (key) => key.status },
  { title: 'PUBLIC KEY', value: (key) => key.public_key },
];
