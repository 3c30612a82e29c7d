import { Option, type Command } from 'commander';
import { DENIAL_REASONS, type DenialReason } from '#server/features/denied-calls/denial-reason-contract.ts';
import type { DeniedCallObject } from '#server/features/denied-calls/denied-call-contract.ts';
import type { TimelineItem } from '#server/features/licenses/license-timeline-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { addLicenseFilter, licenseFilter, type LicenseFilterOptions } from '../license-filter.ts';
import { days, fingerprint, licenseKey, moment } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { rulesText } from '../rules-text.ts';
import { readTextFile, STANDARD_STREAM, writeTextFile } from '../text-file.ts';
import { block, instant, listing, type Column } from '../text-layout.ts';

interface ExplainOptions {
  product?: string;
  fingerprint?: string;
  feature?: string;
}

interface ExplainFileOptions {
  licenseKey?: string;
  fingerprint?: string;
  product?: string;
  at?: string;
}

interface DenialOptions extends PageOptions {
  errorCode?: DenialReason;
  from?: string;
}

interface FileOptions {
  out: string;
  fingerprint?: string;
  ttlDays?: number;
}

export function addLicenseInspection(parent: Command): void {
  addLicenseFilter(parent.command('count'))
    .description('count licenses, up to 10,000')
    .action(
      calling(
        (client, filter: LicenseFilterOptions) => client.countLicenses(licenseFilter(filter)),
        ({ count, exact }) => (exact ? String(count) : `more than ${count}`),
      ),
    );

  parent
    .command('explain')
    .description('show how /authorize/ decides about a license, rule by rule')
    .argument('<ref>', 'license ID or key')
    .option('--product <slug>', 'product to authorize (default: the default product)')
    .option('--fingerprint <fingerprint>', 'device to authorize', fingerprint)
    .option('--feature <name>', 'entitlement to authorize')
    .action(
      calling(
        (client, ref: string, { product, fingerprint: device, feature }: ExplainOptions) =>
          client.explainAuthorization({
            license: ref,
            product_slug: product,
            machine_fingerprint: device,
            feature,
          }),
        ({ authorized, reason, rules }) =>
          `${authorized ? 'AUTHORIZED' : `NOT AUTHORIZED: ${reason}`}\n\n` +
          rulesText(
            rules.map(({ remedy, ...rule }) => ({
              ...rule,
              inputs: { ...rule.inputs, ...(remedy ? { remedy } : {}) },
            })),
          ),
      ),
    );

  parent
    .command('explain-file')
    .description('check a license file against this server, rule by rule')
    .argument('<file>', 'license file; - is stdin')
    .option('--license-key <key>', 'license key that decrypts the file', licenseKey)
    .option('--fingerprint <fingerprint>', 'device that the file must belong to', fingerprint)
    .option('--product <slug>', 'product that the license must cover')
    .option('--at <time>', 'check as of this time', moment)
    .action(
      calling(
        async (client, file: string, options: ExplainFileOptions) =>
          client.explainLicenseFile({
            license_file: await readTextFile(file),
            license_key: options.licenseKey,
            machine_fingerprint: options.fingerprint,
            product_slug: options.product,
            at: options.at,
          }),
        ({ valid, reason, rules }) => `${valid ? 'VALID' : `NOT VALID: ${reason}`}\n\n${rulesText(rules)}`,
      ),
    );

  addPageOptions(parent.command('timeline'))
    .description('list changes and events of a license, newest first')
    .argument('<ref>', 'license ID or key')
    .action(
      calling(
        (client, ref: string, { limit, cursor }: PageOptions) =>
          client.licenseTimeline({ license: ref, limit, cursor }),
        listing('No entries.', TIMELINE_COLUMNS),
      ),
    );

  addPageOptions(parent.command('denials'))
    .description('list denied calls, latest first; equal calls of a day are one entry')
    .argument('[ref]', 'license ID or key (default: all licenses)')
    .addOption(new Option('--error-code <code>', 'only denials with this code').choices(DENIAL_REASONS))
    .option('--from <time>', 'only denials since then', moment)
    .action(
      calling(
        (client, ref: string | undefined, { errorCode, ...request }: DenialOptions) =>
          client.listDeniedCalls({ ...request, license: ref, error_code: errorCode }),
        listing('No denied calls.', DENIAL_COLUMNS),
      ),
    );

  parent
    .command('file')
    .description('issue a license file, for one active device or unbound')
    .argument('<ref>', 'license ID or key')
    .requiredOption('--out <file>', 'write the license file here; - is stdout')
    .option('--fingerprint <fingerprint>', 'bind the file to this active device', fingerprint)
    .option('--ttl-days <n>', 'validity of the file in days (default: as long as the license)', days)
    .action(
      printing(async (ref: string, options: FileOptions, command: Command) => {
        const { out, fingerprint: device, ttlDays } = options;
        const reply = await withService(command, (client) =>
          client.issueLicenseFile({ license: ref, machine_fingerprint: device, ttl_days: ttlDays }),
        );
        if (out === STANDARD_STREAM) return { reply, text: reply.license_file };
        writeTextFile(out, reply.license_file);
        return {
          reply,
          text: block([
            ['License file', out],
            ['Device', device ?? 'any'],
            ['File expires', instant(reply.file_expires_at)],
          ]),
        };
      }),
    );
}

const DENIAL_COLUMNS: readonly Column<DeniedCallObject>[] = [
  { title: 'TIME', value: (denied) => instant(denied.last_at) },
  { title: 'LICENSE', value: (denied) => denied.license_id },
  { title: 'HOLDER', value: (denied) => denied.holder, max: 32, wideOnly: true },
  { title: 'CALL', value: (denied) => denied.call },
  { title: 'REASON', value: (denied) => denied.error_code },
  { title: 'COUNT', value: (denied) => denied.count },
  { title: 'DEVICE', value: (denied) => denied.machine_fingerprint, max: 24 },
  { title: 'PRODUCT', value: (denied) => denied.product_slug, max: 24, wideOnly: true },
  { title: 'ADDRESS', value: (denied) => denied.address },
];

const TIMELINE_COLUMNS: readonly Column<TimelineItem>[] = [
  { title: 'TIME', value: ({ at }) => instant(at) },
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'NAME', value: ({ name }) => name },
  {
    title: 'ACTOR',
    value: ({ actor_kind: kind, actor_name: name, actor_claimed: claimed }) =>
      kind === null ? null : `${kind} ${name}${claimed ? ' (claimed)' : ''}`,
    max: 40,
  },
];
