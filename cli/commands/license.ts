import { Option, type Command } from 'commander';
import type { DeviceObject } from '#server/features/activations/activation-contract.ts';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { LicenseState } from '../../verifier/license-term.ts';
import { calling } from '../command-action.ts';
import { fingerprint, moment, wholeNumber } from '../option-values.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { block, day, instant, listing, type Column } from '../text-layout.ts';

/** A record, so that the compiler misses none. */
const STATES = Object.keys({
  issued: true,
  active: true,
  expiring: true,
  in_grace: true,
  expired: true,
  revoked: true,
} satisfies Record<LicenseState, true>);

interface TermOptions {
  days?: number;
  expiresAt?: string;
}

interface CreateOptions extends TermOptions {
  holder: string;
  plan?: string;
  product?: string;
  email?: string;
}

interface ListOptions extends PageOptions {
  state?: LicenseState;
  search?: string;
  plan?: string;
  product?: string;
  expiresWithin?: number;
  sort?: 'created' | 'expires' | 'holder';
  order?: 'asc' | 'desc';
}

export function addLicenseCommands(program: Command): void {
  const license = program.command('license').description('issue, look up and change licenses');

  addTermOptions(
    license
      .command('create')
      .description('issue a license')
      .requiredOption('--holder <name>', 'who the license is for')
      .option('--plan <name>', 'plan (default: standard)')
      .option('--product <slug>', 'product (default: the default product)')
      .option('--email <address>', 'where to reach the holder'),
  ).action(
    calling(
      (client, { holder, plan, product, email, days, expiresAt }: CreateOptions) =>
        client.createLicense({ holder, plan, product, email, days, expires_at: expiresAt }),
      (reply) => licenseBlock(reply.license),
    ),
  );

  addPageOptions(license.command('list'))
    .description('list licenses, newest first unless sorted otherwise')
    .addOption(new Option('--state <state>', 'only licenses in this state').choices(STATES))
    .option('--search <text>', 'a part of holder, email, key or fingerprint')
    .option('--plan <name>', 'only licenses of this plan')
    .option('--product <slug>', 'only licenses for this product')
    .option('--expires-within <days>', 'only licenses that end between now and then', wholeNumber(1))
    .addOption(new Option('--sort <by>', 'what to sort by').choices(['created', 'expires', 'holder']))
    .addOption(
      new Option('--order <order>', 'desc by default for created, asc otherwise').choices(['asc', 'desc']),
    )
    .action(
      calling(
        (client, options: ListOptions) => {
          const { state, search, plan, product, expiresWithin, sort, order, limit, cursor } = options;
          const filter = { state, search, plan, product, expires_within_days: expiresWithin };
          return client.listLicenses({ ...filter, sort, order, limit, cursor });
        },
        listing('No licenses.', LICENSE_COLUMNS),
      ),
    );

  addRef(license.command('show'))
    .description('show one license')
    .action(
      calling(
        (client, ref: string) => client.showLicense({ ref }),
        (reply) => licenseBlock(reply.license),
      ),
    );

  addRef(license.command('revoke'))
    .description('revoke a license, at once and for good')
    .option('--reason <text>', 'why, for the audit log and the webhooks')
    .action(
      calling(
        (client, ref: string, { reason }: { reason?: string }) => client.revokeLicense({ ref, reason }),
        (reply) => licenseBlock(reply.license),
      ),
    );

  addTermOptions(addRef(license.command('renew')))
    .description("renew a license (default: by its plan's duration)")
    .action(
      calling(
        (client, ref: string, { days, expiresAt }: TermOptions) =>
          client.renewLicense({ ref, days, expires_at: expiresAt }),
        (reply) => withChange(reply.license, 'Expired before', instant(reply.previous_expires_at)),
      ),
    );

  addRef(license.command('upgrade'))
    .description('move a license to a plan of a higher tier')
    .requiredOption('--plan <name>', 'the new plan')
    .action(
      calling(
        (client, ref: string, { plan }: { plan: string }) => client.upgradeLicense({ ref, plan }),
        (reply) => withChange(reply.license, 'Plan before', reply.previous_plan),
      ),
    );

  addRef(license.command('devices'))
    .description('list the devices of a license, released ones too')
    .action(
      calling((client, ref: string) => client.listDevices({ ref }), listing('No devices.', DEVICE_COLUMNS)),
    );

  addRef(license.command('release'))
    .description('release a device, which frees its seat')
    .requiredOption('--fingerprint <fingerprint>', 'which device', fingerprint)
    .action(
      calling(
        (client, ref: string, options: { fingerprint: string }) =>
          client.releaseDevice({ ref, machine_fingerprint: options.fingerprint }),
        (reply) => deviceBlock(reply.device),
      ),
    );
}

function addRef(command: Command): Command {
  return command.argument('<ref>', 'license id or license key');
}

function addTermOptions(command: Command): Command {
  return command
    .option('--days <n>', 'length of the term in days', wholeNumber(1))
    .addOption(
      new Option('--expires-at <time>', 'end of the term: 2027-01-31, or a time with offset')
        .argParser(moment)
        .conflicts('days'),
    );
}

const LICENSE_COLUMNS: readonly Column<LicenseRecord>[] = [
  { title: 'ID', value: (license) => license.license_id },
  { title: 'KEY', value: (license) => license.license_key },
  { title: 'HOLDER', value: (license) => license.holder, max: 32 },
  { title: 'PRODUCT', value: (license) => license.product, max: 20 },
  { title: 'PLAN', value: (license) => license.plan, max: 20 },
  { title: 'STATE', value: (license) => license.state },
  { title: 'EXPIRES', value: (license) => day(license.expires_at) },
  { title: 'DEVICES', value: seatsTaken },
];

const DEVICE_COLUMNS: readonly Column<DeviceObject>[] = [
  { title: 'ID', value: (device) => device.id },
  { title: 'NAME', value: (device) => device.machine_name, max: 32 },
  { title: 'FINGERPRINT', value: (device) => device.machine_fingerprint },
  { title: 'PLATFORM', value: (device) => device.platform, max: 20 },
  { title: 'ACTIVATED', value: (device) => day(device.activated_at) },
  { title: 'RELEASED', value: (device) => day(device.released_at) },
];

/** One license as text; members that say nothing of it are left out. */
function licenseBlock(license: LicenseRecord): string {
  const revoked = license.revoked_at !== null;
  return block([
    ['License key', license.license_key],
    ['Id', license.license_id],
    ['Holder', license.holder],
    ['Email', license.email],
    ['Product', license.product],
    ['Plan', license.plan],
    ['State', license.state],
    ['Issued', instant(license.issued_at)],
    ['Expires', instant(license.expires_at)],
    ['Grace until', instant(license.grace_ends_at)],
    ...(revoked
      ? ([
          ['Revoked', instant(license.revoked_at)],
          ['Reason', license.revoke_reason],
        ] as const)
      : []),
    ['Devices', seatsTaken(license)],
    ['Newest device', license.machine_fingerprint],
    ['Features', license.features.join(', ')],
  ]);
}

function withChange(license: LicenseRecord, name: string, before: string): string {
  return `${licenseBlock(license)}\n\n${block([[name, before]])}`;
}

function deviceBlock(device: DeviceObject): string {
  return block([
    ['Device', device.machine_name],
    ['Fingerprint', device.machine_fingerprint],
    ['Activated', instant(device.activated_at)],
    ['Released', instant(device.released_at)],
  ]);
}

function seatsTaken(license: LicenseRecord): string {
  return `${license.activation_count} of ${license.max_activations ?? 'unlimited'}`;
}
