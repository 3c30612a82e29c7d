import type { Command } from 'commander';
import type { Client } from '#server/wire/client.ts';
import type { statisticsContract } from '#server/features/statistics/statistics-contract.ts';
import { calling } from '../command-action.ts';
import { moment, momentAfter } from '../option-values.ts';
import { block } from '../text-layout.ts';

type Stats = Awaited<ReturnType<Client<typeof statisticsContract>['stats']>>;

interface StatsOptions {
  from?: string;
  to?: string;
  product?: string;
}

export function addStats(program: Command): void {
  program
    .command('stats')
    .description('show counts of licenses, devices, tokens and authorizations')
    .option('--from <time>', 'first day of the daily counts (default: 30 days ago)', moment)
    .option('--to <time>', 'last day of the daily counts (default: today)', momentAfter)
    .option('--product <slug>', 'only this product')
    .action(
      calling(
        (client, { from, to, product }: StatsOptions) => client.stats({ from, to, product }),
        statsText,
      ),
    );
}

function statsText({ licenses, activations, tokens, certificates, webhooks, authorizations }: Stats): string {
  const perDay = (days: readonly { count: number }[]) => days.reduce((sum, { count }) => sum + count, 0);
  return block([
    ['Licenses', licenses.total],
    ['  by state', counts(licenses.by_state)],
    ['  by plan', counts(licenses.by_plan)],
    ['  by product', counts(licenses.by_product)],
    ['Devices', `${activations.active} active, ${activations.total} in total`],
    ['  activated in the period', perDay(activations.per_day)],
    ['Authorization tokens', counts(tokens)],
    ['Authorizations in the period', perDay(authorizations.per_day)],
    ['Certificates', counts(certificates)],
    ['Webhooks', counts(webhooks)],
  ]);
}

/** `3 active, 1 revoked`, or null. */
function counts(numbers: Readonly<Record<string, number>>): string | null {
  const parts = Object.entries(numbers).map(([name, count]) => `${count} ${name}`);
  return parts.length > 0 ? parts.join(', ') : null;
}
