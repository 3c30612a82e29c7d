import { Option, type Command } from 'commander';
import type { ApiTokenObject, ApiTokenRole } from '#server/features/api-tokens/api-token-contract.ts';
import { calling } from '../command-action.ts';
import { addConfirmation } from '../confirmation.ts';
import { wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, day, instant, listing, shownOnce, type Column } from '../text-layout.ts';

/** The compiler reports a role that is missing here. */
const ROLES = Object.keys({ admin: true, integrator: true } satisfies Record<ApiTokenRole, true>);

interface CreateOptions {
  name: string;
  role: ApiTokenRole;
}

export function addApiTokenCommands(program: Command): void {
  const apiToken = program.command('api-token').description('API tokens for integrators (ldk_…)');

  apiToken
    .command('create')
    .description('create an API token')
    .requiredOption('--name <text>', 'person or system that uses the token')
    .addOption(new Option('--role <role>', 'permissions of the token').choices(ROLES).makeOptionMandatory())
    .action(
      calling(
        (client, { name, role }: CreateOptions) => client.createApiToken({ name, role }),
        (reply) => `${shownOnce('API token', reply.api_token)}\n\n${apiTokenBlock(reply.token)}`,
      ),
    );

  addPageOptions(apiToken.command('list'))
    .description('list API tokens, newest first')
    .action(
      calling(
        (client, { limit, cursor }: PageOptions) => client.listApiTokens({ limit, cursor }),
        listing('No API tokens.', COLUMNS),
      ),
    );

  addConfirmation(apiToken.command('revoke'))
    .description('revoke an API token permanently, effective immediately')
    .argument('<id>', 'ID of the token', wholeNumber(1))
    .action(
      calling(
        (client, id: number) => client.revokeApiToken({ id }),
        (reply) => apiTokenBlock(reply.token),
        { confirm: (id: number) => `Revoke API token ${id}? This cannot be undone.` },
      ),
    );
}

const COLUMNS: readonly Column<ApiTokenObject>[] = [
  { title: 'ID', value: (token) => token.id },
  { title: 'TOKEN', value: (token) => `ldk_…${token.last_four}` },
  { title: 'NAME', value: (token) => token.name, max: 32 },
  { title: 'ROLE', value: (token) => token.role },
  { title: 'CREATED', value: (token) => day(token.created_at) },
  { title: 'LAST USED', value: (token) => day(token.last_used_at) },
  { title: 'REVOKED', value: (token) => day(token.revoked_at) },
];

function apiTokenBlock(token: ApiTokenObject): string {
  return block([
    ['ID', token.id],
    ['Ends in', token.last_four],
    ['Name', token.name],
    ['Role', token.role],
    ['Created', instant(token.created_at)],
    ['Last used', instant(token.last_used_at)],
    ['Revoked', instant(token.revoked_at)],
  ]);
}
