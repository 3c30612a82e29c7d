import { Option, type Command } from 'commander';
import type { ApiTokenObject, ApiTokenRole } from '#server/features/api-tokens/api-token-contract.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { calling } from '../command-action.ts';
import { addConfirmation } from '../confirmation.ts';
import { days as validity, expiry, wholeNumber } from '../option-values.ts';
import { RepeatableOption } from '../repeatable-option.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, day, instant, listing, shownOnce, type Column } from '../text-layout.ts';

/** The compiler reports a role that is missing here. */
const ROLES = Object.keys({ admin: true, integrator: true } satisfies Record<ApiTokenRole, true>);

const HOURS_PER_DAY = 24;
/** As long as the service allows: 30 days. */
const MAX_OVERLAP_HOURS = 720;

interface CreateOptions {
  name: string;
  role: ApiTokenRole;
  days?: number;
  expiresAt?: string;
  network?: string[];
}

interface RotateOptions {
  overlapHours?: number;
}

export function addApiTokenCommands(program: Command): void {
  const apiToken = program.command('api-token').description('API tokens for integrators (ldk_…)');

  apiToken
    .command('create')
    .description('create an API token')
    .requiredOption('--name <text>', 'person or system that uses the token')
    .addOption(new Option('--role <role>', 'permissions of the token').choices(ROLES).makeOptionMandatory())
    .option('--days <n>', 'validity in days (default: no expiry)', validity)
    .addOption(
      new Option(
        '--expires-at <time>',
        'expiry: the last day, such as 2027-01-31 (UTC), or a time with an offset (default: no expiry)',
      )
        .argParser(expiry)
        .conflicts('days'),
    )
    .addOption(
      new RepeatableOption(
        '--network <cidr>',
        'network or IP address from which the token may be used; repeat for more (default: any)',
      ),
    )
    .action(
      calling(
        (client, { name, role, network: networks, ...term }: CreateOptions) =>
          client.createApiToken({ name, role, expires_at: expiryOf(term), networks }),
        (reply) => newSecret(reply.api_token, reply.token),
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

  apiToken
    .command('rotate')
    .description('replace the secret of an API token; the old one stays valid for the overlap')
    .argument('<id>', 'ID of the token', wholeNumber(1))
    .option(
      '--overlap-hours <n>',
      `how long the old secret stays valid, 0 to ${MAX_OVERLAP_HOURS} hours; 0 ends it immediately (default: 24)`,
      wholeNumber(0, MAX_OVERLAP_HOURS),
    )
    .action(
      calling(
        (client, id: number, { overlapHours }: RotateOptions) =>
          client.rotateApiToken({
            id,
            overlap_days: overlapHours === undefined ? undefined : overlapHours / HOURS_PER_DAY,
          }),
        (reply) => newSecret(reply.api_token, reply.token),
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

function expiryOf({ days, expiresAt }: Pick<CreateOptions, 'days' | 'expiresAt'>): string | undefined {
  return days === undefined ? expiresAt : new Date(Date.now() + days * DAY_MS).toISOString();
}

function newSecret(secret: string, token: ApiTokenObject): string {
  return `${shownOnce('API token', secret)}\n\n${apiTokenBlock(token)}`;
}

function networksText({ networks }: ApiTokenObject): string {
  return networks.length === 0 ? 'any' : networks.join(', ');
}

function expiryText({ expires_at: end }: ApiTokenObject, format: (timestamp: string) => string): string {
  return end === null ? 'never' : format(end);
}

const COLUMNS: readonly Column<ApiTokenObject>[] = [
  { title: 'ID', value: (token) => token.id },
  { title: 'TOKEN', value: (token) => `ldk_…${token.last_four}` },
  { title: 'NAME', value: (token) => token.name, max: 32 },
  { title: 'ROLE', value: (token) => token.role },
  { title: 'NETWORKS', value: networksText, max: 40, wideOnly: true },
  { title: 'CREATED', value: (token) => day(token.created_at), wideOnly: true },
  { title: 'EXPIRES', value: (token) => expiryText(token, day) },
  { title: 'LAST USED', value: (token) => day(token.last_used_at) },
  { title: 'REVOKED', value: (token) => day(token.revoked_at) },
];

function apiTokenBlock(token: ApiTokenObject): string {
  return block([
    ['ID', token.id],
    ['Ends in', token.last_four],
    ['Name', token.name],
    ['Role', token.role],
    ['Networks', networksText(token)],
    ['Created', instant(token.created_at)],
    ['Expires', expiryText(token, instant)],
    ['Last used', instant(token.last_used_at)],
    ...previousSecret(token),
    ['Revoked', instant(token.revoked_at)],
  ]);
}

/** What the last rotation replaced, while it is still valid. */
function previousSecret({ previous }: ApiTokenObject): (readonly [string, string])[] {
  if (previous === null) return [];
  return [
    ['Old secret ends in', previous.last_four],
    ['Old secret expires', instant(previous.expires_at)],
    ['Old secret last used', instant(previous.last_used_at)],
  ];
}
