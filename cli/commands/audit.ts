import type { Command } from 'commander';
import type { AuditEntryObject } from '../../server/audit/audit-contract.ts';
import { calling } from '../command-action.ts';
import { moment } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { instant, listing, type Column } from '../text-layout.ts';

interface ListOptions extends PageOptions {
  actor?: string;
  action?: string;
  subject?: string;
  from?: string;
  to?: string;
  requestId?: string;
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('who did what, and when');

  addPageOptions(audit.command('list'))
    .description('list audit entries, newest first; with --json what each changed')
    .option('--actor <name>', 'only what this one did')
    .option('--action <action>', 'only this, such as license.revoked, or all of a kind: license.')
    .option('--subject <subject>', 'only entries about this, such as license:42')
    .option('--from <time>', 'only from this moment on', moment)
    .option('--to <time>', 'only before this moment', moment)
    .option('--request-id <id>', 'only entries whose request id begins so')
    .action(
      calling(
        (client, { actor, action, subject, from, to, requestId, limit, cursor }: ListOptions) =>
          client.listAudit({ actor, action, subject, from, to, request_id: requestId, limit, cursor }),
        listing('No audit entries.', COLUMNS),
      ),
    );
}

function actorText({ actor_kind: kind, actor_name: name, actor_claimed: claimed }: AuditEntryObject): string {
  return `${kind} ${name}${claimed ? ' (claimed)' : ''}`;
}

const COLUMNS: readonly Column<AuditEntryObject>[] = [
  { title: 'ID', value: (entry) => entry.id },
  { title: 'TIME', value: (entry) => instant(entry.at) },
  { title: 'ACTOR', value: actorText, max: 40 },
  { title: 'ACTION', value: (entry) => entry.action },
  { title: 'SUBJECT', value: (entry) => entry.subject, max: 40 },
];
