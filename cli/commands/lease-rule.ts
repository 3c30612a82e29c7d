import { type Command, Option } from 'commander';
import type { LeaseRuleObject } from '#server/features/lease-rules/lease-rule-contract.ts';
import { LEASE_RULE_TYPES, type LeaseRuleType } from '#server/rules/lease-rule-type.ts';
import { calling } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import { addConfirmation } from '../confirmation.ts';
import { ruleAbout } from '../lease-rule-text.ts';
import { wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, listing, type Column } from '../text-layout.ts';
import { addLeaseRuleImport } from './lease-rule-import.ts';
import { addLeaseRuleTry } from './lease-rule-try.ts';

interface MatchOptions {
  user?: string;
  host?: string;
  group?: string;
  address?: string;
  everyone?: true;
}

interface RuleOptions extends MatchOptions {
  type?: LeaseRuleType;
  units?: number;
  note?: string;
  position?: number;
}

interface CreateOptions extends RuleOptions {
  license: string;
  type: LeaseRuleType;
}

export function addLeaseRuleCommands(program: Command): void {
  const rule = program
    .command('lease-rule')
    .description('rules about who may take the seats of a floating license');

  addPageOptions(rule.command('list'))
    .description('list rules, by license in the order in which they apply')
    .option('--license <ref>', 'only rules of this license (ID or key)')
    .action(
      calling(
        (client, { license, limit, cursor }: PageOptions & { license?: string }) =>
          client.listLeaseRules({ license, limit, cursor }),
        listing('No lease rules.', COLUMNS),
      ),
    );

  addRuleOptions(
    rule
      .command('create')
      .description('add a rule, which applies from the next checkout')
      .requiredOption('--license <ref>', 'license ID or key')
      .addOption(typeOption().makeOptionMandatory()),
  ).action(
    calling(
      (client, { license, type, units, note, position, ...match }: CreateOptions) =>
        client.createLeaseRule({
          license,
          type,
          match: matchOf(match) ?? missingMatch(),
          units,
          note,
          position,
        }),
      (reply) => ruleBlock(reply.rule),
    ),
  );

  addRuleOptions(
    rule
      .command('update')
      .description('change or move a rule; new match options replace the earlier ones')
      .argument('<id>', 'ID of the rule', wholeNumber(1))
      .addOption(typeOption()),
  ).action(
    calling(
      (client, id: number, { type, units, note, position, ...match }: RuleOptions) =>
        client.updateLeaseRule({
          id,
          type,
          match: matchOf(match),
          units: units ?? (type === 'allow' || type === 'deny' ? null : undefined),
          note,
          position,
        }),
      (reply) => ruleBlock(reply.rule),
    ),
  );

  addConfirmation(rule.command('delete'))
    .description('delete a rule')
    .argument('<id>', 'ID of the rule', wholeNumber(1))
    .action(
      calling(
        (client, id: number) => client.deleteLeaseRule({ id }),
        (reply) => `Deleted.\n\n${ruleBlock(reply.rule)}`,
        { confirm: (id: number) => `Delete lease rule ${id}?` },
      ),
    );

  addLeaseRuleTry(rule);
  addLeaseRuleImport(rule);
}

function typeOption(): Option {
  return new Option(
    '--type <type>',
    'reserve seats, limit them (max), or allow or deny access; the first allow or deny that matches decides',
  ).choices(LEASE_RULE_TYPES);
}

function addRuleOptions(command: Command): Command {
  return command
    .option('--user <name>', 'match this user; all given match options must apply')
    .option('--host <name>', 'match this host')
    .option('--group <name>', 'match the members of this group')
    .option('--address <cidr>', 'match this IP address or network')
    .addOption(new Option('--everyone', 'match every client').conflicts(['user', 'host', 'group', 'address']))
    .option('--units <n>', 'seats to reserve, or the maximum (for max)', wholeNumber(1))
    .option('--position <n>', "position in the license's rules, from 1 (default: last)", wholeNumber(1))
    .option('--note <text>', 'note for administrators');
}

/** Undefined if none of the options is given. */
function matchOf({ everyone, ...fields }: MatchOptions) {
  const isGiven = Object.values(fields).some((value) => value !== undefined);
  return isGiven || everyone ? fields : undefined;
}

function missingMatch(): never {
  throw usageFailure('--user, --host, --group, --address or --everyone is required');
}

const COLUMNS: readonly Column<LeaseRuleObject>[] = [
  { title: 'ID', value: (rule) => rule.id },
  { title: 'LICENSE', value: (rule) => rule.license_id },
  { title: 'POSITION', value: (rule) => rule.position },
  { title: 'TYPE', value: (rule) => rule.type },
  { title: 'SEATS', value: (rule) => rule.units },
  { title: 'ABOUT', value: ruleAbout, max: 60 },
  { title: 'NOTE', value: (rule) => rule.note, max: 40, wideOnly: true },
];

function ruleBlock(rule: LeaseRuleObject): string {
  return block([
    ['ID', rule.id],
    ['License', rule.license_id],
    ['Position', rule.position],
    ['Type', rule.type],
    ['Seats', rule.units],
    ['About', ruleAbout(rule)],
    ['Note', rule.note],
  ]);
}
