import type { Command } from 'commander';
import type { AuthorizationTokenObject } from '#server/features/authorization-tokens/authorization-token-contract.ts';
import { calling } from '../command-action.ts';
import { addConfirmation } from '../confirmation.ts';
import { days as validity, wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, day, instant, listing, shownOnce, type Column } from '../text-layout.ts';

interface IssueOptions {
  license: string;
  product?: string;
  days?: number;
  name?: string;
}

interface ListOptions extends PageOptions {
  license?: string;
}

export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('authorization tokens of licenses (ldt_…)');

  token
    .command('issue')
    .description('issue an authorization token; it replaces the active token of the same license and product')
    .requiredOption('--license <ref>', 'license ID or key')
    .option('--product <slug>', 'product (default: the default product)')
    .option('--days <n>', 'validity in days (default: 365)', validity)
    .option('--name <text>', 'purpose of the token')
    .action(
      calling(
        (client, { license, product, days, name }: IssueOptions) =>
          client.issueToken({ license, product, days, name }),
        (reply) =>
          [
            shownOnce('Token', reply.token),
            tokenBlock(reply.authorization_token),
            ...(reply.replaced ? [`Token ${reply.replaced.id} is replaced and no longer works.`] : []),
          ].join('\n\n'),
      ),
    );

  addPageOptions(token.command('list'))
    .description('list authorization tokens, newest first')
    .option('--license <ref>', 'only tokens of this license (ID or key)')
    .action(
      calling(
        (client, { license, limit, cursor }: ListOptions) => client.listTokens({ license, limit, cursor }),
        listing('No authorization tokens.', COLUMNS),
      ),
    );

  token
    .command('show')
    .description('show an authorization token, but not its value')
    .argument('<id>', 'ID of the token', wholeNumber(1))
    .action(
      calling(
        (client, id: number) => client.showToken({ id }),
        (reply) => tokenBlock(reply.authorization_token),
      ),
    );

  addConfirmation(token.command('revoke'))
    .description('revoke an authorization token permanently, effective immediately')
    .argument('<id>', 'ID of the token', wholeNumber(1))
    .action(
      calling(
        (client, id: number) => client.revokeToken({ id }),
        (reply) => tokenBlock(reply.authorization_token),
        { confirm: (id: number) => `Revoke authorization token ${id}? This cannot be undone.` },
      ),
    );
}

const COLUMNS: readonly Column<AuthorizationTokenObject>[] = [
  { title: 'ID', value: (token) => token.id },
  { title: 'TOKEN', value: ending },
  { title: 'NAME', value: (token) => token.name, max: 32 },
  { title: 'LICENSE', value: (token) => token.license_id },
  { title: 'PRODUCT', value: (token) => token.product, max: 20 },
  { title: 'STATE', value: (token) => token.state },
  { title: 'EXPIRES', value: (token) => day(token.expires_at) },
  { title: 'LAST USED', value: (token) => day(token.last_used_at) },
];

function tokenBlock(token: AuthorizationTokenObject): string {
  return block([
    ['ID', token.id],
    ['Ends in', token.last_four],
    ['Name', token.name],
    ['License', token.license_id],
    ['Product', token.product],
    ['State', token.state],
    ['Created', instant(token.created_at)],
    ['Expires', instant(token.expires_at)],
  ]);
}

function ending(token: AuthorizationTokenObject): string {
  return `ldt_…${token.last_four}`;
}
