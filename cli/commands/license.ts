import { Option, type Command } from 'commander';
import { calling } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import { addConfirmation } from '../confirmation.ts';
import { addLicenseFilter, licenseFilter, type LicenseFilterOptions } from '../license-filter.ts';
import { LICENSE_COLUMNS, licenseBlock } from '../license-text.ts';
import { clearedIfEmpty, days, expiry } from '../option-values.ts';
import { addFieldOption, changedFieldValues, type FieldOptions } from '../field-options.ts';
import { addPageOptions, type PageOptions } from '../page-options.ts';
import { addOwnSeatOptions, ownSeatFields, type OwnSeatOptions } from '../seat-options.ts';
import { instant, listing } from '../text-layout.ts';
import { addLicenseBulk } from './license-bulk.ts';
import { addLicenseDevices } from './license-devices.ts';
import { addLicenseInspection } from './license-inspection.ts';
import { addLicenseTransfer } from './license-transfer.ts';

interface TermOptions {
  days?: number;
  expiresAt?: string;
}

interface LicenseFields extends OwnSeatOptions {
  holder?: string;
  email?: string;
  orderNumber?: string;
  notes?: string;
  field?: FieldOptions;
}

interface CreateOptions extends TermOptions, LicenseFields {
  holder: string;
  plan?: string;
  product?: string;
}

interface RenewOptions extends TermOptions {
  shorten?: true;
}

interface ListOptions extends PageOptions, LicenseFilterOptions {
  sort?: 'created' | 'expires' | 'holder';
  order?: 'asc' | 'desc';
}

export function addLicenseCommands(program: Command): void {
  const license = program.command('license').description('create, find and change licenses');

  const create = license
    .command('create')
    .description('issue a license')
    .requiredOption('--holder <name>', 'person or organization that the license is issued to')
    .option('--plan <name>', 'plan (default: standard)')
    .option('--product <slug>', 'product (default: the default product)')
    .option('--email <address>', 'email address of the holder')
    .option('--order-number <text>', 'order number, for example of your shop')
    .option('--notes <text>', 'notes for administrators');
  addTermOptions(addOwnSeatOptions(addFieldOption(create))).action(
    calling(
      (client, { holder, plan, product, email, notes, days: term, expiresAt, ...options }: CreateOptions) =>
        client.createLicense({
          holder,
          plan,
          product,
          email,
          notes,
          days: term,
          expires_at: expiresAt,
          order_number: options.orderNumber,
          custom_fields: options.field,
          ...ownSeatFields(options),
        }),
      (reply) => licenseBlock(reply.license),
    ),
  );

  addPageOptions(addLicenseFilter(license.command('list')))
    .description('list licenses, newest first unless --sort is given')
    .addOption(new Option('--sort <by>', 'sort order').choices(['created', 'expires', 'holder']))
    .addOption(
      new Option('--order <order>', 'direction (default: desc for created, otherwise asc)').choices([
        'asc',
        'desc',
      ]),
    )
    .action(
      calling(
        (client, { sort, order, limit, cursor, ...filter }: ListOptions) =>
          client.listLicenses({ ...licenseFilter(filter), sort, order, limit, cursor }),
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

  addLicenseChanges(license);
  addLicenseDevices(license);
  addLicenseBulk(license);
  addLicenseInspection(license);
  addLicenseTransfer(license);
}

function addLicenseChanges(license: Command): void {
  const edit = addRef(license.command('edit'))
    .description(
      'change the holder, email address, order number, notes, custom fields or seat limits of a license',
    )
    .option('--holder <name>', 'person or organization that the license is issued to')
    .option('--email <address>', "email address of the holder; '' clears it")
    .option('--order-number <text>', "order number; '' clears it")
    .option('--notes <text>', "notes for administrators; '' clears them");
  addOwnSeatOptions(addFieldOption(edit, '; an empty value removes it')).action(
    calling(
      (client, ref: string, fields: LicenseFields) => client.updateLicense({ ref, ...changedFields(fields) }),
      (reply) => licenseBlock(reply.license),
    ),
  );

  addConfirmation(addRef(license.command('revoke')))
    .description('revoke a license permanently, effective immediately')
    .option('--reason <text>', 'reason for the audit log and webhooks')
    .action(
      calling(
        (client, ref: string, { reason }: { reason?: string }) => client.revokeLicense({ ref, reason }),
        (reply) => licenseBlock(reply.license),
        { confirm: (ref: string) => `Revoke license ${ref}? This cannot be undone.` },
      ),
    );

  addTermOptions(addRef(license.command('renew')))
    .description("extend a license by its plan's term, by --days or to --expires-at")
    .option('--shorten', 'allow an expiry date before the current one')
    .action(
      calling(
        (client, ref: string, { days: term, expiresAt, shorten }: RenewOptions) =>
          client.renewLicense({ ref, days: term, expires_at: expiresAt, shorten }),
        (reply) => licenseBlock(reply.license, ['Previous expiry', instant(reply.previous_expires_at)]),
      ),
    );

  addRef(license.command('upgrade'))
    .description('move a license to a plan of a higher tier')
    .requiredOption('--plan <name>', 'new plan')
    .action(
      calling(
        (client, ref: string, { plan }: { plan: string }) => client.upgradeLicense({ ref, plan }),
        (reply) => licenseBlock(reply.license, ['Previous plan', reply.previous_plan]),
      ),
    );
}

/** @throws CommandFailure if nothing is to be changed */
function changedFields({ holder, email, orderNumber, notes, field, ...options }: LicenseFields) {
  const fields = {
    holder,
    email: clearedIfEmpty(email),
    order_number: clearedIfEmpty(orderNumber),
    notes: clearedIfEmpty(notes),
    custom_fields: changedFieldValues(field),
    ...ownSeatFields(options),
  };
  if (Object.values(fields).some((value) => value !== undefined)) return fields;
  throw usageFailure(
    'give at least one of --holder, --email, --order-number, --notes, --field and the seat limits',
  );
}

function addRef(command: Command): Command {
  return command.argument('<ref>', 'license ID or key');
}

function addTermOptions(command: Command): Command {
  return command
    .option('--days <n>', 'length of the term in days', days)
    .addOption(
      new Option(
        '--expires-at <time>',
        'end of the term: the last day, such as 2027-01-31 (UTC), or a time with an offset',
      )
        .argParser(expiry)
        .conflicts('days'),
    );
}
