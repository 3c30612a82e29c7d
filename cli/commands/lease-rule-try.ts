import type { Command } from 'commander';
import type { leaseRuleContract, LeaseRuleObject } from '#server/features/lease-rules/lease-rule-contract.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { calling } from '../command-action.ts';
import { ruleAbout } from '../lease-rule-text.ts';
import { fingerprint, wholeNumber } from '../option-values.ts';
import { block, table } from '../text-layout.ts';

type Trial = ReplyOf<typeof leaseRuleContract.tryLeaseRules>;

interface TryOptions {
  license: string;
  user?: string;
  host?: string;
  address?: string;
  fingerprint?: string;
  units?: number;
}

export function addLeaseRuleTry(rule: Command): void {
  rule
    .command('try')
    .description('show what a checkout would get now, without taking a seat')
    .requiredOption('--license <ref>', 'license ID or key')
    .option('--user <name>', 'user of the client')
    .option('--host <name>', 'host of the client')
    .option('--address <ip>', 'IP address of the client')
    .option('--fingerprint <fingerprint>', 'device of the client', fingerprint)
    .option('--units <n>', 'seats that it needs (default: 1)', wholeNumber(1))
    .action(
      calling(
        (client, { fingerprint: device, ...options }: TryOptions) =>
          client.tryLeaseRules({ ...options, machine_fingerprint: device }),
        trialText,
      ),
    );
}

function trialText({ granted, reason, decided_by: decider, matching, pool }: Trial): string {
  const facts = block([
    ['Result', granted ? 'granted' : (reason ?? '')],
    ['Decided by', decider ? `rule ${decider.id}: ${decider.type}, ${ruleAbout(decider)}` : null],
    ['Seats', pool ? (pool.total ?? 'unlimited') : null],
    ['In use', pool?.in_use ?? null],
    ['Available', pool ? (pool.available ?? 'unlimited') : null],
    ['Reserved', pool?.reserved ?? null],
  ]);
  return matching.length === 0 ? facts : `${facts}\n\n${matchingTable(matching)}`;
}

function matchingTable(rules: readonly LeaseRuleObject[]): string {
  return table(
    [
      { title: 'MATCHING RULE', value: (one) => one.id },
      { title: 'TYPE', value: (one) => one.type },
      { title: 'SEATS', value: (one) => one.units },
      { title: 'ABOUT', value: ruleAbout, max: 60 },
    ],
    rules,
  );
}
