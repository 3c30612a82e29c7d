// The devices of a license.
import type { Command } from 'commander';
import type { DeviceObject } from '#server/features/activations/activation-contract.ts';
import { calling, printing, withService } from '../command-action.ts';
import { addConfirmation, confirmFirst } from '../confirmation.ts';
import { days, fingerprint } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { STANDARD_STREAM, writeTextFile } from '../text-file.ts';
import { block, day, instant, listing, type Column } from '../text-layout.ts';

interface ReleaseOptions {
  fingerprint: string;
}

interface ReplaceOptions extends ReleaseOptions {
  newFingerprint: string;
  name?: string;
  platform?: string;
  appVersion?: string;
  out?: string;
  ttlDays?: number;
  encrypt?: true;
}

const COLUMNS: readonly Column<DeviceObject>[] = [
  { title: 'ID', value: (device) => device.id },
  { title: 'NAME', value: (device) => device.machine_name, max: 32 },
  { title: 'FINGERPRINT', value: (device) => device.machine_fingerprint, max: 71 },
  { title: 'PLATFORM', value: (device) => device.platform, max: 20, wideOnly: true },
  { title: 'ACTIVATED', value: (device) => day(device.activated_at) },
  { title: 'LAST SEEN', value: (device) => instant(device.last_seen_at), wideOnly: true },
  { title: 'RELEASED', value: (device) => day(device.released_at) },
];

/** @param license the group of commands */
export function addLicenseDevices(license: Command): void {
  addPageOptions(license.command('devices'))
    .argument('<ref>', 'license ID or key')
    .description('list the devices of a license, including released ones')
    .action(
      calling(
        (client, ref: string, { limit, cursor }: PageOptions) => client.listDevices({ ref, limit, cursor }),
        listing('No devices.', COLUMNS),
      ),
    );

  addConfirmation(license.command('release'))
    .argument('<ref>', 'license ID or key')
    .description('release a device to free its seat')
    .requiredOption('--fingerprint <fingerprint>', 'fingerprint of the device', fingerprint)
    .action(
      calling(
        (client, ref: string, options: ReleaseOptions) =>
          client.releaseDevice({ ref, machine_fingerprint: options.fingerprint }),
        (reply) => deviceBlock(reply.device),
        {
          confirm: (ref: string, options: ReleaseOptions) =>
            `Release device ${options.fingerprint} of license ${ref}?`,
        },
      ),
    );

  addConfirmation(license.command('replace'))
    .argument('<ref>', 'license ID or key')
    .description('release a device and activate another one in its place')
    .requiredOption('--fingerprint <fingerprint>', 'fingerprint of the device that is released', fingerprint)
    .requiredOption(
      '--new-fingerprint <fingerprint>',
      'fingerprint of the device that takes its seat',
      fingerprint,
    )
    .option('--name <name>', 'name of the new device')
    .option('--platform <platform>', 'operating system of the new device')
    .option('--app-version <version>', 'version of the software on the new device')
    .option('--out <file>', 'write the license file of the new device here; - is stdout')
    .option('--ttl-days <n>', 'validity of the license file in days (default: as long as the license)', days)
    .option('--encrypt', 'encrypt the file with the license key and the fingerprint of the new device')
    .action(printing(replaceDevice));
}

async function replaceDevice(ref: string, options: ReplaceOptions, command: Command) {
  const { fingerprint: replaced, newFingerprint, out } = options;
  await confirmFirst(command, `Replace device ${replaced} of license ${ref}?`);
  const reply = await withService(command, (client) =>
    client.replaceDevice({
      ref,
      machine_fingerprint: replaced,
      new_machine_fingerprint: newFingerprint,
      machine_name: options.name,
      platform: options.platform,
      app_version: options.appVersion,
      ttl_days: options.ttlDays,
      encrypt: options.encrypt,
    }),
  );
  // If this fails, the seat has moved; repeating the command returns the same device.
  if (out !== undefined && out !== STANDARD_STREAM) writeTextFile(out, reply.license_file);
  if (out === STANDARD_STREAM) return { reply, text: reply.license_file };
  return { reply, text: `${deviceBlock(reply.device)}\n\nReplaces\n${deviceBlock(reply.released)}` };
}

function deviceBlock(device: DeviceObject): string {
  return block([
    ['Device', device.machine_name],
    ['Fingerprint', device.machine_fingerprint],
    ['Activated', instant(device.activated_at)],
    ['Last seen', instant(device.last_seen_at)],
    ['Released', instant(device.released_at)],
  ]);
}
