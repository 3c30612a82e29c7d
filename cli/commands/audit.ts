import type { Command } from 'commander';
import type { AuditEntryObject } from '../../server/audit/audit-contract.ts';
import { calling } from '../command-action.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { instant, listing, type Column } from '../text-layout.ts';

interface ListOptions extends PageOptions {
  subject?: string;
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('who did what, and when');

  addPageOptions(audit.command('list'))
    .description('list audit entries, newest first; with --json what each changed')
    .option('--subject <subject>', 'only entries about this, such as license:42')
    .action(
      calling(
        (client, { subject, limit, cursor }: ListOptions) => client.listAudit({ subject, limit, cursor }),
        listing('No audit entries.', COLUMNS),
      ),
    );
}

const COLUMNS: readonly Column<AuditEntryObject>[] = [
  { title: 'ID', value: (entry) => entry.id },
  { title: 'TIME', value: (entry) => instant(entry.at) },
  { title: 'ACTOR', value: (entry) => `${entry.actor_kind} ${entry.actor_name}`, max: 32 },
  { title: 'ACTION', value: (entry) => entry.action },
  { title: 'SUBJECT', value: (entry) => entry.subject, max: 40 },
];
