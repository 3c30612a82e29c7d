import type { Command } from 'commander';
import type {
  optionsImportContract,
  OptionsImportReport,
} from '#server/features/lease-rules/options-import-contract.ts';
import type { RequestInput } from '#server/wire/endpoint.ts';
import { counted } from '#server/wire/counted.ts';
import { calling } from '../command-action.ts';
import { CommandFailure } from '../command-failure.ts';
import { ruleAbout } from '../lease-rule-text.ts';
import { RepeatableOption } from '../repeatable-option.ts';
import { readTextFile } from '../text-file.ts';
import { printable, table } from '../text-layout.ts';

interface ImportOptions {
  license: string;
  feature?: string[];
  dryRun?: true;
  replace?: true;
  updateGroups?: true;
  changePlan?: true;
}

type Request = RequestInput<typeof optionsImportContract.importLeaseRules>;

/** As many as fit into a request. */
const MAX_CHARACTERS = 60_000;

export function addLeaseRuleImport(rule: Command): void {
  rule
    .command('import')
    .description('import rules, groups and limits from an options file of FlexNet or RLM')
    .argument('<file>', 'options file; - is stdin')
    .requiredOption('--license <ref>', 'license ID or key')
    .addOption(
      new RepeatableOption(
        '--feature <name>',
        'feature of the file that the license covers, such as viewer or viewer:VERSION=2.0; repeat for more',
      ),
    )
    .option('--dry-run', 'report the result for each line without importing')
    .option('--replace', 'delete the rules that the license has')
    .option('--update-groups', 'change the members of existing groups to those in the file')
    .option('--change-plan', 'also apply TIMEOUT and LINGER, which change the plan and all of its licenses')
    .action(
      calling(
        async (client, file: string, options: ImportOptions) =>
          client.importLeaseRules(await requestOf(file, options)),
        reportText,
      ),
    );
}

async function requestOf(file: string, { feature, ...options }: ImportOptions): Promise<Request> {
  const content = await readTextFile(file);
  if (content.length > MAX_CHARACTERS)
    throw new CommandFailure(
      'payload_too_large',
      `${file} has ${content.length} characters; an options file may have ${MAX_CHARACTERS}. Create large groups with \`license-desk lease-group\` first, and leave their lines out`,
    );
  return {
    license: options.license,
    content,
    features: feature,
    dry_run: options.dryRun,
    replace: options.replace,
    update_groups: options.updateGroups,
    change_plan: options.changePlan,
  };
}

const OUTCOMES: Readonly<Record<OptionsImportReport['lines'][number]['outcome'], string>> = {
  mapped: 'ok',
  not_mapped: 'NOT IMPORTED',
  ignored: 'ignored',
};

function lineTable(lines: OptionsImportReport['lines']): string {
  return table(
    [
      { title: 'LINE', value: (one) => one.line },
      { title: 'OPTION', value: (one) => one.text, max: 48 },
      { title: 'RESULT', value: (one) => OUTCOMES[one.outcome] },
      { title: 'BECOMES', value: (one) => one.message, max: 90 },
    ],
    lines,
  );
}

function ruleTable(rules: OptionsImportReport['rules']): string {
  return table(
    [
      { title: 'RULE', value: (one) => one.type },
      { title: 'SEATS', value: (one) => one.units },
      { title: 'ABOUT', value: ruleAbout, max: 60 },
      { title: 'CHANGE', value: (one) => (one.is_new ? 'create' : 'none') },
    ],
    rules,
  );
}

function settingText({ of, field, before, value, applies }: OptionsImportReport['settings'][number]): string {
  const change = `${of} ${field}: ${before ?? 'unlimited'} → ${value}`;
  if (applies) return change;
  return `${change} (not applied${of === 'plan' ? '; add --change-plan' : ''})`;
}

/** Each part only if there is something in it. */
function reportText(report: OptionsImportReport): string {
  const { applied, lines, rules, groups, settings, deleted_rules: deleted, warnings } = report;
  const parts = [
    applied ? 'Imported.' : 'Dry run: nothing has changed.',
    lines.length === 0 ? 'The file has no options.' : lineTable(lines),
    rules.length === 0 ? '' : ruleTable(rules),
    groups
      .map(({ name, members, change }) => `group ${name}: ${counted(members.length, 'member')}, ${change}`)
      .join('\n'),
    settings.map(settingText).join('\n'),
    deleted === 0 ? '' : `${counted(deleted, 'rule')} deleted first`,
    warnings.map((warning) => `warning: ${warning}`).join('\n'),
  ];
  return parts
    .filter((part) => part !== '')
    .map((part) => part.split('\n').map(printable).join('\n'))
    .join('\n\n');
}
