import { Option, type Command } from 'commander';
import type { PlanObject } from '#server/features/plans/plan-contract.ts';
import { calling } from '../command-action.ts';
import { commaList, seats, wholeNumber } from '../option-values.ts';
import { block, listing, type Column } from '../text-layout.ts';

interface PlanOptions {
  displayName?: string;
  product?: string;
  anyProduct?: true;
  tier?: number;
  durationDays?: number;
  graceDays?: number;
  maxActivations?: number | 'unlimited';
  features?: string[];
}

interface CreateOptions extends PlanOptions {
  name: string;
}

interface UpdateOptions extends PlanOptions {
  newName?: string;
  archived?: boolean;
}

export function addPlanCommands(program: Command): void {
  const plan = program.command('plan').description('plans: how long a license lasts and what it includes');

  plan
    .command('list')
    .description('list plans, lowest tier first')
    .action(
      calling(
        async (client) => ({ items: (await client.listPlans({})).plans, next_cursor: null }),
        listing('No plans.', COLUMNS),
      ),
    );

  addPlanOptions(
    plan
      .command('create')
      .description('create a plan (default: 365 days, no grace period, 1 device, tier 0, any product)')
      .requiredOption('--name <name>', 'its name: 1 to 64 of a-z, 0-9 and -'),
  ).action(
    calling(
      (client, { name, ...options }: CreateOptions) => client.createPlan({ name, ...planFields(options) }),
      (reply) => planBlock(reply.plan),
    ),
  );

  addPlanOptions(
    plan
      .command('update')
      .description('change a plan; its licenses follow at once')
      .argument('<name>', 'name of the plan')
      .option('--new-name <name>', 'rename it')
      .option('--archived', 'offer it no longer')
      .option('--no-archived', 'offer it again'),
  ).action(
    calling(
      (client, name: string, { newName, archived, ...options }: UpdateOptions) =>
        client.updatePlan({ name, new_name: newName, archived, ...planFields(options) }),
      (reply) => planBlock(reply.plan),
    ),
  );

  plan
    .command('delete')
    .description('delete a plan that no license uses')
    .argument('<name>', 'name of the plan')
    .action(
      calling(
        (client, name: string) => client.deletePlan({ name }),
        (reply) => `Deleted.\n\n${planBlock(reply.plan)}`,
      ),
    );
}

function addPlanOptions(command: Command): Command {
  return command
    .option('--display-name <text>', 'its name for people')
    .option('--product <slug>', 'the one product it is for')
    .addOption(new Option('--any-product', 'it is for any product').conflicts('product'))
    .option('--tier <n>', 'its rank; upgrades go to a higher one', wholeNumber(0))
    .option('--duration-days <n>', 'length of a term', wholeNumber(1))
    .option('--grace-days <n>', 'length of the grace period after a term', wholeNumber(0))
    .option('--max-activations <n>', 'devices per license, or unlimited', seats)
    .option('--features <list>', 'what it includes, separated by commas', commaList);
}

function planFields({ anyProduct, ...options }: PlanOptions) {
  return {
    display_name: options.displayName,
    product: anyProduct ? null : options.product,
    tier: options.tier,
    duration_days: options.durationDays,
    grace_days: options.graceDays,
    max_activations: options.maxActivations === 'unlimited' ? null : options.maxActivations,
    features: options.features,
  };
}

const COLUMNS: readonly Column<PlanObject>[] = [
  { title: 'NAME', value: (plan) => plan.name, max: 32 },
  { title: 'DISPLAY NAME', value: (plan) => plan.display_name, max: 32 },
  { title: 'PRODUCT', value: (plan) => plan.product ?? 'any', max: 20 },
  { title: 'TIER', value: (plan) => plan.tier },
  { title: 'DAYS', value: (plan) => plan.duration_days },
  { title: 'GRACE', value: (plan) => plan.grace_days },
  { title: 'DEVICES', value: (plan) => plan.max_activations ?? 'unlimited' },
  { title: 'FEATURES', value: (plan) => plan.features.join(', '), max: 40 },
  { title: 'ARCHIVED', value: (plan) => (plan.archived ? 'yes' : 'no') },
];

function planBlock(plan: PlanObject): string {
  return block([
    ['Plan', plan.name],
    ['Display name', plan.display_name],
    ['Product', plan.product ?? 'any'],
    ['Tier', plan.tier],
    ['Duration', `${plan.duration_days} days`],
    ['Grace period', `${plan.grace_days} days`],
    ['Devices', plan.max_activations ?? 'unlimited'],
    ['Features', plan.features.join(', ')],
    ['Archived', plan.archived ? 'yes' : 'no'],
  ]);
}
