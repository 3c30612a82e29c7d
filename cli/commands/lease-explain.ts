import type { Command } from 'commander';
import { calling } from '../command-action.ts';
import { fingerprint, wholeNumber } from '../option-values.ts';
import { rulesText } from '../rules-text.ts';

interface ExplainOptions {
  user?: string;
  host?: string;
  address?: string;
  fingerprint?: string;
  instanceId?: string;
  product?: string;
  feature?: string;
  units?: number;
}

export function addLeaseExplain(lease: Command): void {
  lease
    .command('explain')
    .description('show how a checkout of a floating license is decided, rule by rule, without taking a seat')
    .argument('<ref>', 'license ID or key')
    .option('--user <name>', 'user of the client')
    .option('--host <name>', 'host of the client')
    .option('--address <ip>', 'IP address of the client')
    .option('--fingerprint <fingerprint>', 'device of the client', fingerprint)
    .option('--instance-id <id>', 'instance of the client, as a refusal shows it')
    .option('--product <slug>', 'product to check out')
    .option('--feature <name>', 'entitlement to check out')
    .option('--units <n>', 'seats that it needs (default: 1)', wholeNumber(1))
    .action(
      calling(
        (client, license: string, options: ExplainOptions) => {
          const { product, fingerprint: device, instanceId, ...request } = options;
          return client.explainCheckout({
            ...request,
            license,
            product_slug: product,
            machine_fingerprint: device,
            instance_id: instanceId,
          });
        },
        ({ granted, reason, rules }) =>
          `${granted ? 'GRANTED' : `NOT GRANTED: ${reason}`}\n\n` +
          rulesText(
            rules.map(({ remedy, ...rule }) => ({
              ...rule,
              inputs: { ...rule.inputs, ...(remedy ? { remedy } : {}) },
            })),
          ),
      ),
    );
}
