import type { Command } from 'commander';
import type { AuditEntryObject } from '#server/features/audit/audit-contract.ts';
import { calling } from '../command-action.ts';
import { exportsCsv } from '../csv-export.ts';
import { moment, momentAfter, wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, instant, listing, type Column } from '../text-layout.ts';

interface FilterOptions {
  actor?: string;
  action?: string;
  subject?: string;
  from?: string;
  to?: string;
  requestId?: string;
}

type ListOptions = FilterOptions & PageOptions;

function addFilterOptions(command: Command): Command {
  return command
    .option('--actor <name>', 'only changes by this user, token or job')
    .option(
      '--action <action>',
      'only this action, such as license.revoked; license. selects all license actions',
    )
    .option('--subject <subject>', 'only changes to this subject, such as license:42')
    .option('--from <time>', 'only at or after this time', moment)
    .option('--to <time>', 'only before this time; a date includes that day', momentAfter)
    .option('--request-id <id>', 'only this request ID, or request IDs that begin with it');
}

function toFilter({ actor, action, subject, from, to, requestId }: FilterOptions) {
  return { actor, action, subject, from, to, request_id: requestId };
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('audit log of all changes');

  addPageOptions(addFilterOptions(audit.command('list')))
    .description('list audit entries, newest first; --json includes the values before and after')
    .action(
      calling(
        (client, { limit, cursor, ...filter }: ListOptions) =>
          client.listAudit({ ...toFilter(filter), limit, cursor }),
        listing('No audit entries.', COLUMNS),
      ),
    );

  audit
    .command('show')
    .description('show one audit entry with the values before and after the change')
    .argument('<id>', 'ID of the entry', wholeNumber(1))
    .action(
      calling(
        (client, id: number) => client.showAuditEntry({ id }),
        ({ entry }) => entryBlock(entry),
      ),
    );

  audit
    .command('actions')
    .description('list the actions that occur in the audit log')
    .action(
      calling(
        (client) => client.listAuditActions({}),
        ({ actions }) => (actions.length === 0 ? 'No audit entries.' : actions.join('\n')),
      ),
    );

  exportsCsv<FilterOptions>(
    addFilterOptions(audit.command('export')).description('write audit entries to a CSV file, newest first'),
    'Audit entries',
    (access, filter) => access.download('exportAudit', toFilter(filter)),
  );
}

function actorText({ actor_kind: kind, actor_name: name, actor_claimed: claimed }: AuditEntryObject): string {
  return `${kind} ${name}${claimed ? ' (claimed)' : ''}`;
}

function entryBlock(entry: AuditEntryObject): string {
  return block([
    ['ID', entry.id],
    ['Time', instant(entry.at)],
    ['Actor', actorText(entry)],
    ['Action', entry.action],
    ['Subject', entry.subject],
    ['Request ID', entry.request_id],
    ['Before', JSON.stringify(entry.before)],
    ['After', JSON.stringify(entry.after)],
  ]);
}

const COLUMNS: readonly Column<AuditEntryObject>[] = [
  { title: 'ID', value: (entry) => entry.id },
  { title: 'TIME', value: (entry) => instant(entry.at) },
  { title: 'ACTOR', value: actorText, max: 40 },
  { title: 'ACTION', value: (entry) => entry.action },
  { title: 'SUBJECT', value: (entry) => entry.subject, max: 40 },
];
