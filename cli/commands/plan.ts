import { Option, type Command } from 'commander';
import type { PlanObject } from '#server/features/plans/plan-contract.ts';
import { counted } from '#server/wire/counted.ts';
import { calling } from '../command-action.ts';
import { addConfirmation } from '../confirmation.ts';
import { commaList, days, seats, wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { addSeatOptions, seatFields, seatLines, type SeatOptions } from '../seat-options.ts';
import { block, listing, type Column } from '../text-layout.ts';

interface PlanOptions extends SeatOptions {
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
  addFeatures?: string[];
  removeFeatures?: string[];
}

export function addPlanCommands(program: Command): void {
  const plan = program.command('plan').description('plans: term, seats and entitlements of licenses');

  addPageOptions(plan.command('list'))
    .description('list plans, lowest tier first')
    .action(
      calling(
        async (client, { limit, cursor }: PageOptions) => {
          const { items, next_cursor } = await client.listPlans({ limit, cursor });
          return { items, next_cursor };
        },
        listing('No plans.', COLUMNS),
      ),
    );

  addPlanOptions(
    plan
      .command('create')
      .description('create a plan (default: 365 days, no grace period, 1 seat, tier 0, any product)')
      .requiredOption('--name <name>', '1 to 64 lowercase letters, digits or hyphens'),
  ).action(
    calling(
      (client, { name, ...options }: CreateOptions) => client.createPlan({ name, ...planFields(options) }),
      (reply) => planBlock(reply.plan),
    ),
  );

  addPlanOptions(
    plan
      .command('update')
      .description('change a plan; existing licenses are affected immediately')
      .argument('<name>', 'name of the plan')
      .option('--new-name <name>', 'new name')
      .option('--archived', 'stop offering the plan for new licenses')
      .option('--no-archived', 'offer the plan again')
      .option('--add-features <list>', 'entitlements to add, separated by commas', commaList)
      .option('--remove-features <list>', 'entitlements to remove, separated by commas', commaList),
  ).action(
    calling(
      (client, name: string, { newName, archived, addFeatures, removeFeatures, ...options }: UpdateOptions) =>
        client.updatePlan({
          name,
          new_name: newName,
          archived,
          ...planFields(options),
          add_features: addFeatures,
          remove_features: removeFeatures,
        }),
      (reply) => planBlock(reply.plan),
    ),
  );

  addConfirmation(plan.command('delete'))
    .description('delete a plan that no license uses')
    .argument('<name>', 'name of the plan')
    .action(
      calling(
        (client, name: string) => client.deletePlan({ name }),
        (reply) => `Deleted.\n\n${planBlock(reply.plan)}`,
        { confirm: (name: string) => `Delete plan ${name}?` },
      ),
    );
}

function addPlanOptions(command: Command): Command {
  return addSeatOptions(command)
    .option('--display-name <text>', 'display name')
    .option('--product <slug>', 'restrict the plan to this product')
    .addOption(new Option('--any-product', 'allow any product').conflicts('product'))
    .option('--tier <n>', 'rank of the plan; upgrades go to a higher tier', wholeNumber(0, 1_000_000))
    .option('--duration-days <n>', 'length of the term in days', days)
    .option('--grace-days <n>', 'length of the grace period in days', wholeNumber(0, 3650))
    .option('--max-activations <n>', 'seats per license, one for each device; or unlimited', seats)
    .option('--features <list>', 'entitlements, separated by commas', commaList);
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
    ...seatFields(options),
  };
}

const COLUMNS: readonly Column<PlanObject>[] = [
  { title: 'NAME', value: (plan) => plan.name, max: 32 },
  { title: 'DISPLAY NAME', value: (plan) => plan.display_name, max: 32 },
  { title: 'PRODUCT', value: (plan) => plan.product ?? 'any', max: 20 },
  { title: 'TIER', value: (plan) => plan.tier },
  { title: 'DAYS', value: (plan) => plan.duration_days },
  { title: 'GRACE', value: (plan) => plan.grace_days },
  {
    title: 'SEATS',
    value: (plan) => (plan.licensing === 'floating' ? plan.seats : plan.max_activations) ?? 'unlimited',
  },
  { title: 'LICENSING', value: (plan) => plan.licensing, wideOnly: true },
  { title: 'FEATURES', value: (plan) => plan.features.join(', '), max: 40 },
  { title: 'ARCHIVED', value: (plan) => (plan.archived ? 'yes' : 'no') },
];

function planBlock(plan: PlanObject): string {
  return block([
    ['Plan', plan.name],
    ['Display name', plan.display_name],
    ['Product', plan.product ?? 'any'],
    ['Tier', plan.tier],
    ['Term', counted(plan.duration_days, 'day')],
    ['Grace period', counted(plan.grace_days, 'day')],
    ['Licensing', plan.licensing],
    ...(plan.licensing === 'floating'
      ? seatLines(plan)
      : [['Devices', plan.max_activations ?? 'unlimited'] as [string, string | number]]),
    ['Features', plan.features.join(', ')],
    ['Archived', plan.archived ? 'yes' : 'no'],
  ]);
}
