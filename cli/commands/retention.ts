import type { Command } from 'commander';
import type { Client } from '#server/wire/client.ts';
import type { RetentionItem, retentionAdminContract } from '#server/features/retention/retention-contract.ts';
import { counted } from '#server/wire/counted.ts';
import { calling } from '../command-action.ts';
import { block, day, instant, table, type Column } from '../text-layout.ts';

type Retention = Awaited<ReturnType<Client<typeof retentionAdminContract>['showRetention']>>;

export function addRetention(program: Command): void {
  program
    .command('retention')
    .description('show stored records, retention periods and the last cleanup')
    .action(calling((client) => client.showRetention({}), retentionText));
}

const LABELS: Record<RetentionItem['kind'], string> = {
  events: 'Events',
  deliveries: 'Deliveries',
  attempts: 'Delivery attempts',
  audit: 'Audit entries',
  idempotency: 'Idempotent replies',
  webhooks: 'Deleted webhooks',
  imports: 'License imports',
  restores: 'before-restore-* folders',
  denied_calls: 'Denied calls',
  leases: 'Ended leases',
  lease_denials: 'Denied checkouts',
  lease_usage: 'Seats in use per hour',
};

const COLUMNS: readonly Column<RetentionItem>[] = [
  { title: 'KIND', value: ({ kind }) => LABELS[kind] },
  {
    title: 'ENTRIES',
    value: (item) => (item.entries_estimated ? `about ${item.entries}` : item.entries),
  },
  { title: 'SIZE', value: ({ bytes }) => size(bytes) },
  { title: 'OLDEST', value: ({ oldest_at: oldest }) => day(oldest) },
  { title: 'KEPT', value: kept },
  { title: 'SETTING', value: ({ setting }) => setting },
  { title: 'LAST RUN', value: ({ last_removed: removed }) => `${removed} removed` },
];

function kept({ keep_days: days }: RetentionItem): string {
  if (days === null) return 'with deliveries';
  if (days === 0) return 'forever';
  return counted(days, 'day');
}

function size(bytes: number | null): string | null {
  if (bytes === null) return null;
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function retentionText({ database, items, last_run_at: lastRun }: Retention): string {
  const { bytes, free_bytes: free } = database;
  const facts = block([
    ['Database', size(bytes)],
    ...(free === null ? [] : ([['Free inside', size(free)]] as const)),
    ['Last run', instant(lastRun)],
  ]);
  return `${table(COLUMNS, items)}\n\n${facts}`;
}
