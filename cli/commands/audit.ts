import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import type { AuditEntryObject } from '#server/features/audit/audit-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { moment } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { createSecretFile } from '../text-file.ts';
import { instant, listing, type Column } from '../text-layout.ts';

interface FilterOptions {
  actor?: string;
  action?: string;
  subject?: string;
  from?: string;
  to?: string;
  requestId?: string;
}

type ListOptions = FilterOptions & PageOptions;
type ExportOptions = FilterOptions & { out: string };

function addFilterOptions(command: Command): Command {
  return command
    .option('--actor <name>', 'only what this one did')
    .option('--action <action>', 'only this, such as license.revoked, or all of a kind: license.')
    .option('--subject <subject>', 'only entries about this, such as license:42')
    .option('--from <time>', 'only from this moment on', moment)
    .option('--to <time>', 'only before this moment', moment)
    .option('--request-id <id>', 'only entries whose request id begins so');
}

function toFilter({ actor, action, subject, from, to, requestId }: FilterOptions) {
  return { actor, action, subject, from, to, request_id: requestId };
}

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('who did what, and when');

  addPageOptions(addFilterOptions(audit.command('list')))
    .description('list audit entries, newest first; with --json what each changed')
    .action(
      calling(
        (client, { limit, cursor, ...filter }: ListOptions) =>
          client.listAudit({ ...toFilter(filter), limit, cursor }),
        listing('No audit entries.', COLUMNS),
      ),
    );

  addFilterOptions(audit.command('export'))
    .description('write audit entries to a CSV file, newest first')
    .requiredOption('--out <file>', 'a new file, readable only by you')
    .action(
      printing(async ({ out, ...filter }: ExportOptions, command: Command) => {
        const file = await createSecretFile(out);
        try {
          await withService(command, async (_client, access) =>
            file.finish(await access.download('exportAudit', toFilter(filter))),
          );
        } catch (error) {
          await file.discard();
          throw error;
        }
        const { size: bytes } = await stat(out);
        return { reply: { file: out, bytes }, text: `The audit entries are in ${out} (${bytes} bytes).` };
      }),
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
