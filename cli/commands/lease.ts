import { Option, type Command } from 'commander';
import type { Client } from '#server/wire/client.ts';
import type {
  leaseAdminContract,
  LeaseDenialObject,
  LeaseRecord,
  PoolItem,
} from '#server/features/leases/lease-admin-contract.ts';
import { DENIAL_CODES, LEASE_STATES } from '#server/features/leases/lease-state-contract.ts';
import { calling } from '../command-action.ts';
import { CommandFailure } from '../command-failure.ts';
import { addConfirmation } from '../confirmation.ts';
import { moment, momentAfter, wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, instant, listing, table, type Column } from '../text-layout.ts';
import { addLeaseExplain } from './lease-explain.ts';
import { addLeaseRun } from './lease-run.ts';

type Usage = Awaited<ReturnType<Client<typeof leaseAdminContract>['leaseUsage']>>;
type Pool = NonNullable<Usage['pool']>;

interface HolderOptions extends PageOptions {
  license?: string;
  user?: string;
  host?: string;
}

interface ListOptions extends HolderOptions {
  state?: LeaseRecord['state'] | 'live';
}

interface DenialOptions extends HolderOptions, UsageOptions {
  errorCode?: LeaseDenialObject['error_code'];
}

interface PoolOptions extends PageOptions {
  search?: string;
  plan?: string;
  product?: string;
  minPercent?: number;
}

interface UsageOptions {
  from?: string;
  to?: string;
}

export function addLeaseCommands(program: Command): void {
  const lease = program
    .command('lease')
    .description('leases: seats of floating licenses, held for a limited time');

  addHolderOptions(lease.command('list'), 'leases')
    .description('list leases, newest first')
    .addOption(
      new Option(
        '--state <state>',
        'only leases in this state; live: those that hold a seat or wait',
      ).choices([...LEASE_STATES, 'live']),
    )
    .action(
      calling(
        async (client, { license, user, host, state, limit, cursor }: ListOptions) => {
          const { items, next_cursor } = await client.listLeases({
            license,
            user,
            host,
            state,
            limit,
            cursor,
          });
          return { items, next_cursor };
        },
        listing('No leases.', LEASE_COLUMNS),
      ),
    );

  lease
    .command('show')
    .description('show a lease')
    .argument('<id>', 'ID of the lease', wholeNumber(1))
    .action(
      calling(
        async (client, id: number) => {
          const { items } = await client.listLeases({ lease_id: id });
          const [found] = items;
          if (!found) throw new CommandFailure('lease_not_found', `lease ${id} not found`);
          return { lease: found };
        },
        (reply) => leaseBlock(reply.lease),
      ),
    );

  addConfirmation(
    lease
      .command('reclaim')
      .description('end a lease and free its seat; the client learns of it at its next heartbeat')
      .argument('<id>', 'ID of the lease', wholeNumber(1))
      .requiredOption('--reason <text>', 'why the seat is taken back'),
  ).action(
    calling(
      (client, id: number, { reason }: { reason: string }) => client.reclaimLease({ lease_id: id, reason }),
      (reply) => `Reclaimed.\n\n${leaseBlock(reply.lease)}`,
      { confirm: (id: number) => `Reclaim lease ${id}?` },
    ),
  );

  addHolderOptions(lease.command('denials'), 'denials')
    .description('list denied checkouts, newest first')
    .addOption(new Option('--error-code <code>', 'only denials with this code').choices(DENIAL_CODES))
    .option('--from <time>', 'only denials since then', moment)
    .option('--to <time>', 'only denials before then; a date includes that day', momentAfter)
    .action(
      calling(
        (client, { errorCode, ...request }: DenialOptions) =>
          client.listLeaseDenials({ ...request, error_code: errorCode }),
        listing('No denied checkouts.', DENIAL_COLUMNS),
      ),
    );

  addPageOptions(lease.command('pools'))
    .description('list floating licenses with their seats, those with the largest share in use first')
    .option('--search <text>', 'a license key, or part of the holder or email address')
    .option('--plan <name>', 'only licenses of this plan')
    .option('--product <slug>', 'only licenses for this product')
    .option('--min-percent <n>', 'only licenses with at least this share in use', wholeNumber(0, 100))
    .action(
      calling(
        (client, { minPercent, ...request }: PoolOptions) =>
          client.listLeasePools({ ...request, min_percent: minPercent }),
        listing('No floating licenses.', POOL_COLUMNS),
      ),
    );

  lease
    .command('usage')
    .description('show how many seats of a license were in use, per day')
    .argument('<ref>', 'license ID or key')
    .option('--from <time>', 'start of the period (default: seven days before its end)', moment)
    .option('--to <time>', 'end of the period; a date includes that day (default: now)', momentAfter)
    .action(
      calling(
        (client, license: string, { from, to }: UsageOptions) => client.leaseUsage({ license, from, to }),
        usageText,
      ),
    );

  addLeaseExplain(lease);
  addLeaseRun(lease);
}

function addHolderOptions(command: Command, what: string): Command {
  return addPageOptions(command)
    .option('--license <ref>', `only ${what} of this license (ID or key)`)
    .option('--user <name>', `only ${what} of this user`)
    .option('--host <name>', `only ${what} on this host`);
}

const LEASE_COLUMNS: readonly Column<LeaseRecord>[] = [
  { title: 'ID', value: (lease) => lease.lease_id },
  { title: 'STATE', value: (lease) => lease.state },
  { title: 'HOLDER', value: (lease) => lease.holder, max: 32, wideOnly: true },
  { title: 'USER', value: (lease) => lease.user, max: 24 },
  { title: 'HOST', value: (lease) => lease.host, max: 24 },
  { title: 'UNITS', value: (lease) => lease.units },
  { title: 'FEATURE', value: (lease) => lease.feature, max: 20, wideOnly: true },
  { title: 'ISSUED', value: (lease) => instant(lease.issued_at) },
  { title: 'EXPIRES', value: (lease) => instant(lease.expires_at) },
];

const DENIAL_COLUMNS: readonly Column<LeaseDenialObject>[] = [
  { title: 'TIME', value: (denial) => instant(denial.at) },
  { title: 'HOLDER', value: (denial) => denial.holder, max: 32, wideOnly: true },
  { title: 'USER', value: (denial) => denial.user, max: 24 },
  { title: 'HOST', value: (denial) => denial.host, max: 24 },
  { title: 'UNITS', value: (denial) => denial.units },
  { title: 'REASON', value: (denial) => denial.error_code },
  { title: 'RULE', value: (denial) => denial.rule, max: 32, wideOnly: true },
  { title: 'IN USE', value: (denial) => seatsText(denial.pool) },
];

const POOL_COLUMNS: readonly Column<PoolItem>[] = [
  { title: 'ID', value: (item) => item.license_id },
  { title: 'HOLDER', value: (item) => item.holder, max: 32 },
  { title: 'PLAN', value: (item) => item.plan, max: 20 },
  { title: 'STATE', value: (item) => item.license_state, wideOnly: true },
  { title: 'IN USE', value: (item) => seatsText(item.pool) },
  { title: 'BORROWED', value: (item) => item.pool.borrowed },
  { title: 'WAITING', value: (item) => item.pool.queued },
  { title: 'DENIED 24 H', value: (item) => item.denied_24h },
];

function seatsText({ in_use, total }: Pick<Pool, 'in_use' | 'total'>): string {
  return total === null ? String(in_use) : `${in_use} of ${total}`;
}

function leaseBlock(lease: LeaseRecord): string {
  return block([
    ['Lease', lease.lease_id],
    ['State', lease.end_reason === null ? lease.state : `${lease.state} (${lease.end_reason})`],
    ['License', `${lease.license_key} (${lease.holder})`],
    ['Product', lease.product_slug],
    ['Feature', lease.feature],
    ['Units', lease.units],
    ['Overdraft', lease.overdraft ? 'yes' : 'no'],
    ['Counted as', lease.counted_as],
    ['User', lease.user],
    ['Host', lease.host],
    ['Device', lease.machine_fingerprint],
    ['Address', lease.address],
    ['Issued', instant(lease.issued_at)],
    ['Last heartbeat', lease.heartbeat_at && instant(lease.heartbeat_at)],
    ['Borrowed until', lease.borrowed_until && instant(lease.borrowed_until)],
    [lease.ended_at === null ? 'Expires' : 'Ended', instant(lease.ended_at ?? lease.expires_at)],
    ['Reason', lease.end_note],
  ]);
}

function usageText({ pool, days }: Usage): string {
  const now =
    pool === null
      ? []
      : [
          block([
            ['Seats in use', seatsText(pool)],
            ['Borrowed', pool.borrowed],
            ['Reserved', pool.reserved],
            ['Overdraft', pool.overdraft],
            ['Waiting', pool.queued],
          ]),
        ];
  return [...now, days.length === 0 ? 'No use in this period.' : table(USAGE_COLUMNS, days)].join('\n\n');
}

const USAGE_COLUMNS: readonly Column<Usage['days'][number]>[] = [
  { title: 'DAY', value: ({ day }) => day },
  { title: 'PEAK', value: ({ peak }) => peak },
  { title: 'NEEDED', value: ({ needed }) => needed },
  { title: 'AVERAGE', value: ({ average }) => average },
  { title: 'DENIED', value: ({ denied }) => denied },
  { title: 'QUEUED', value: ({ queued }) => queued },
];
