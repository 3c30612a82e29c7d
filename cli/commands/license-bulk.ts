import type { Command } from 'commander';
import type { BulkReply } from '#server/features/licenses/license-contract.ts';
import type { AdminAccess } from '#server/process/admin-access.ts';
import { counted } from '#server/wire/counted.ts';
import { printing, withService } from '../command-action.ts';
import { CommandFailure, toApiError, usageFailure } from '../command-failure.ts';
import type { Outcome } from '../command-output.ts';
import { addConfirmation, confirmFirst } from '../confirmation.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { days } from '../option-values.ts';
import { readTextFile, STANDARD_STREAM } from '../text-file.ts';
import { block, table } from '../text-layout.ts';

type Client = AdminAccess['client'];

/** So far, or in all. */
interface BulkReport extends BulkReply {
  /** May have been changed, because their call failed or the outcome of their commit was lost. */
  unknown: number[];
}

/** After a call that failed. */
interface PartialReport extends BulkReport {
  not_tried: number[];
}

/** The most that one call takes. */
const CHUNK = 100;

export function addLicenseBulk(license: Command): void {
  addRefs(license.command('bulk-renew'))
    .description('extend several licenses by the terms of their plans, or by --days; each on its own')
    .option('--days <n>', 'extend each license by this many days', days)
    .action(
      printing(async (refs: string[], options: { days?: number }, command: Command) => {
        const named = await readRefs(refs);
        return changeEach(command, named, 'renewed', (client, ids) =>
          client.renewLicenses({ license_ids: ids, days: options.days }),
        );
      }),
    );

  addConfirmation(addRefs(license.command('bulk-revoke')), { required: true })
    .description('revoke several licenses permanently; each on its own')
    .option('--reason <text>', 'reason for the audit log and webhooks')
    .action(
      printing(async (refs: string[], { reason }: { reason?: string }, command: Command) => {
        const named = await readRefs(refs);
        const question = `Revoke ${counted(named.length, 'license')}? This cannot be undone.`;
        await confirmFirst(command, question, { required: true });
        return changeEach(command, named, 'revoked', (client, ids) =>
          client.revokeLicenses({ license_ids: ids, reason }),
        );
      }),
    );
}

function addRefs(command: Command): Command {
  return command.argument('<refs...>', 'license IDs or keys; - reads them from stdin, one on each line');
}

async function readRefs(refs: readonly string[]): Promise<string[]> {
  const isStdin = refs.length === 1 && refs[0] === STANDARD_STREAM;
  const read = isStdin ? (await readTextFile(STANDARD_STREAM)).split('\n') : refs;
  const named = [...new Set(read.map((ref) => ref.trim()).filter(Boolean))];
  if (named.length === 0) throw usageFailure('<refs> is required');
  return named;
}

/** Keys are looked up before anything is changed. */
async function licenseIds(client: Client, refs: readonly string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const ref of refs) {
    ids.push(/^\d{1,15}$/u.test(ref) ? Number(ref) : (await client.showLicense({ ref })).license.license_id);
  }
  return [...new Set(ids)];
}

function changeEach(
  command: Command,
  refs: readonly string[],
  verb: string,
  change: (client: Client, ids: number[]) => Promise<BulkReply>,
): Promise<Outcome> {
  return withService(command, async (client) => {
    const ids = await licenseIds(client, refs);
    const reply: BulkReport = { done: [], failed: [], unknown: [] };
    for (let at = 0; at < ids.length; at += CHUNK) {
      const chunk = ids.slice(at, at + CHUNK);
      const { done, failed } = await change(client, chunk).catch((error: unknown) => {
        const unknown = [...reply.unknown, ...chunk];
        throw callFailure(error, { ...reply, unknown, not_tried: ids.slice(at + CHUNK) }, verb);
      });
      reply.done.push(...done);
      for (const failure of failed)
        if (failure.error_code === 'unavailable') reply.unknown.push(failure.license_id);
        else reply.failed.push(failure);
    }
    return {
      reply,
      text: bulkText(reply, verb),
      exitCode: reply.done.length === ids.length ? EXIT_CODES.ok : EXIT_CODES.failure,
    };
  });
}

/** A call that fails ends the command: its licenses may have been changed, and a second call would change them twice. */
function callFailure(error: unknown, report: PartialReport, verb: string): CommandFailure {
  const { code, message } = toApiError(error);
  return new CommandFailure(
    code,
    `${message}; the licenses of this call may have been ${verb}: check the unknown ones before you try again`,
    { report: { fields: report, text: bulkText(report, verb) } },
  );
}

function bulkText(report: BulkReport | PartialReport, verb: string): string {
  const { done, failed, unknown } = report;
  const counts = [`${done.length} ${verb}`, `${failed.length} failed`];
  const lists: string[] = [];
  if (failed.length > 0) {
    lists.push(
      table(
        [
          { title: 'LICENSE', value: (one) => one.license_id },
          { title: 'ERROR', value: (one) => one.error_code },
          { title: 'MESSAGE', value: (one) => one.message },
        ],
        failed,
      ),
    );
  }
  if ('not_tried' in report) {
    const { not_tried: notTried } = report;
    counts.push(`${unknown.length} unknown`, `${notTried.length} not tried`);
    lists.push(
      block([
        ['Unknown', unknown.join(' ')],
        ['Not tried', notTried.join(' ')],
      ]),
    );
  } else if (unknown.length > 0) {
    counts.push(`${unknown.length} unknown`);
    lists.push(
      block([['Unknown', unknown.join(' ')]]),
      `The unknown ones may have been ${verb}. Check them before you try again.`,
    );
  }
  return [`${counts.join(', ')}.`, ...lists].join('\n\n');
}
