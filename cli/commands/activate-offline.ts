import type { Command } from 'commander';
import { printing, withService } from '../command-action.ts';
import { CommandFailure, usageFailure } from '../command-failure.ts';
import type { Outcome } from '../command-output.ts';
import { days } from '../option-values.ts';
import { readTextFile, STANDARD_STREAM, writeTextFile } from '../text-file.ts';
import { block, instant } from '../text-layout.ts';

interface ActivateOptions {
  request: string;
  out?: string;
  dryRun?: true;
  ttlDays?: number;
  encrypt?: true;
}

export function addActivateOffline(program: Command): void {
  program
    .command('activate-offline')
    .description(
      'on the license server: activate a device from its activation request and write its license file',
    )
    .requiredOption('--request <file>', 'activation request, in either form; - is stdin')
    .option('--out <file>', 'write the license file here; - is stdout (required unless --dry-run is given)')
    .option('--ttl-days <n>', 'validity of the license file in days (default: as long as the license)', days)
    .option('--dry-run', 'show the request and whether the device can be activated, without activating it')
    .option('--encrypt', 'encrypt the file with the license key and the device fingerprint')
    .action(
      printing(async (options: ActivateOptions, command: Command) => {
        const { out, dryRun = false } = options;
        if (out === undefined && !dryRun) throw usageFailure('--out <file> is required');
        const request = await readTextFile(options.request);
        if (out === undefined || dryRun) return preview(command, request);
        return activate(command, request, { ...options, out });
      }),
    );
}

async function preview(command: Command, request: string): Promise<Outcome> {
  const reply = await withService(command, (client) => client.previewOfflineRequest({ request }));
  // No license can make it valid: it has to be written again.
  if (reply.reason === 'invalid_request')
    throw new CommandFailure(reply.reason, reply.message ?? 'the activation request is invalid');
  const facts = block([
    ['License key', reply.license_key],
    ['Holder', reply.license?.holder ?? null],
    ['Device', reply.machine_name],
    ['Fingerprint', reply.machine_fingerprint],
    ['Product', reply.product_slug],
    ['Requested', instant(reply.requested_at)],
    ['Active since', instant(reply.activation?.activated_at ?? null)],
  ]);
  const verdict = reply.can_activate
    ? 'The device can be activated.'
    : `The device cannot be activated: ${reply.message ?? reply.reason}`;
  return { reply, text: `${facts}\n\n${verdict}` };
}

async function activate(
  command: Command,
  request: string,
  { out, ttlDays, encrypt }: ActivateOptions & { out: string },
): Promise<Outcome> {
  const reply = await withService(command, (client) =>
    client.activateOffline({ request, ttl_days: ttlDays, encrypt }),
  );
  // If this fails, the device is active; activating it again returns the same activation.
  if (out !== STANDARD_STREAM) writeTextFile(out, reply.license_file);
  const { license, activation, license_file: licenseFile } = reply;
  const facts = block([
    ['License file', out],
    ['License key', license.license_key],
    ['Holder', license.holder],
    ['Device', activation.machine_name],
    ['Fingerprint', activation.machine_fingerprint],
    ['License expires', instant(license.expires_at)],
    ['File expires', instant(reply.file_expires_at)],
  ]);
  return { reply, text: out === STANDARD_STREAM ? licenseFile : facts };
}
