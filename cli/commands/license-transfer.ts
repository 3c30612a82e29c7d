import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type {
  ImportError,
  ImportField,
  ImportResult,
  ImportStatus,
} from '#server/features/license-transfer/license-transfer-contract.ts';
import type { AdminAccess } from '#server/process/admin-access.ts';
import { counted } from '#server/wire/counted.ts';
import { ApiError } from '#server/wire/errors.ts';
import { calling, printing, withService } from '../command-action.ts';
import { CommandFailure, toApiError, usageFailure } from '../command-failure.ts';
import { exportsCsv } from '../csv-export.ts';
import { addFieldPair, ESCAPING, type FieldOptions, fieldsOfFile } from '../field-options.ts';
import { addLicenseFilter, licenseFilter, type LicenseFilterOptions } from '../license-filter.ts';
import { truncate } from '../display-width.ts';
import { newFile } from '../option-values.ts';
import { RepeatableOption } from '../repeatable-option.ts';
import type { ServiceAccess } from '../service-access.ts';
import { createSecretFile, fileFailure, type SecretFile } from '../text-file.ts';
import { block, printable, table } from '../text-layout.ts';

/** The compiler reports a field that is missing here. */
const FIELDS = Object.keys({
  holder: true,
  email: true,
  plan: true,
  product: true,
  expires_at: true,
  days: true,
  license_key: true,
  order_number: true,
  notes: true,
} satisfies Record<ImportField, true>) as ImportField[];

const KEYS_FILE = 'new CSV file for the imported rows with their license keys, readable only by you';

type Client = AdminAccess['client'];
type Upload = Awaited<ReturnType<Client['uploadImport']>>;
type Mapping = Partial<Record<ImportField, string>>;

interface ImportOptions {
  map?: Mapping;
  field?: FieldOptions;
  allFields?: true;
  plan?: string;
  product?: string;
  dryRun?: true;
  skipFaulty?: true;
  faultyOut?: string;
  keysOut?: string;
}

export function addLicenseTransfer(license: Command): void {
  exportsCsv<LicenseFilterOptions>(
    addLicenseFilter(license.command('export')).description('write licenses to a CSV file, newest first'),
    'Licenses',
    (access, filter) => access.download('exportLicenses', licenseFilter(filter)),
  );

  license
    .command('import')
    .description('import licenses from a CSV file: all rows or none, unless --skip-faulty is given')
    .argument('<file>', 'CSV file with a header row')
    .addOption(
      new RepeatableOption(
        '--map <field=column>',
        `column of a field (${FIELDS.join(', ')}); repeat for each field. Default: the column with the same name`,
      ).argParser(addMapping),
    )
    .addOption(
      new RepeatableOption(
        '--field <name=column>',
        `column of a custom field, for example "Cost center=KST"; repeat for each field; ${ESCAPING}`,
      ).argParser(addFieldPair),
    )
    .addOption(
      new Option(
        '--all-fields',
        'make a custom field of each other column, as the back office does; for exported files',
      ).conflicts('field'),
    )
    .option('--plan <name>', 'plan of rows without one (default: standard)')
    .option('--product <slug>', 'product of rows without one (default: the default product)')
    .option('--dry-run', 'check every row without importing')
    .option('--skip-faulty', 'leave rows with errors out, and import the others')
    .option('--faulty-out <file>', 'new CSV file for the rows with errors, with their reasons', newFile)
    .option('--keys-out <file>', KEYS_FILE, newFile)
    .action(printing(importLicenses));

  license
    .command('import-status')
    .description('show the progress of an import')
    .argument('<id>', 'ID of the import')
    .option('--keys-out <file>', `${KEYS_FILE}; kept for a day after the import`, newFile)
    .action(
      printing((id: string, { keysOut }: { keysOut?: string }, command: Command) =>
        withService(command, async (client, access) => {
          const status = await client.showImport({ import_id: id });
          if (keysOut !== undefined) await saveResult(access, id, 'keys', await createSecretFile(keysOut));
          return { reply: status, text: statusText(status) };
        }),
      ),
    );

  license
    .command('import-cancel')
    .description('stop an import, undo it and delete its file; a finished import stays')
    .argument('<id>', 'ID of the import')
    .action(calling((client, id: string) => client.cancelImport({ import_id: id }), statusText));
}

function addMapping(text: string, before: Mapping = {}): Mapping {
  const [, field = '', column = ''] = /^([a-z_]+)=(.+)$/su.exec(text) ?? [];
  if ((FIELDS as string[]).includes(field)) return { ...before, [field]: column };
  throw new InvalidArgumentError(`must be FIELD=COLUMN with a field of ${FIELDS.join(', ')}`);
}

/** @throws CommandFailure if the file lacks one of the columns */
function knownColumns<Given extends Mapping | FieldOptions>(
  columns: readonly string[],
  option: string,
  given: Given | undefined,
): Given | undefined {
  const unknown = Object.entries(given ?? {}).find(([, column]) => !columns.includes(column));
  if (!unknown) return given;
  throw usageFailure(
    `${option} must name a column of the file: ${columns.join(', ')} (got ${unknown.join('=')})`,
  );
}

function mappingFor(columns: readonly string[], given: Mapping = {}): Mapping & { holder: string } {
  knownColumns(columns, '--map', given);
  const byName = FIELDS.filter((field) => columns.includes(field)).map((field) => [field, field]);
  const mapping = { ...(Object.fromEntries(byName) as Mapping), ...given };
  const { holder } = mapping;
  if (holder === undefined) {
    throw usageFailure(
      `the file has no column holder; name the column of the holders with --map holder=COLUMN. Columns: ${columns.join(', ')}`,
    );
  }
  return { ...mapping, holder };
}

async function importLicenses(path: string, options: ImportOptions, command: Command) {
  const { keysOut } = options;
  const bytes = await readFile(path).catch((error: unknown) => {
    throw fileFailure('not_found', `cannot read ${path}`, error);
  });
  return withService(command, async (client, access) => {
    // Created first: licenses are not taken back if their keys cannot be written.
    const keys = keysOut === undefined ? null : await createSecretFile(keysOut);
    try {
      const upload = await client.uploadImport({ file: new Blob([bytes]) });
      const { preview, faulty, status } = await importUpload(access, upload, options);
      if (status === null) {
        await keys?.discard();
        const text = `${preview.valid} of ${preview.rows} rows can be imported.`;
        return { reply: preview, text: withNote(text, upload) };
      }
      if (keys) {
        await saveResult(access, upload.import_id, 'keys', keys).catch((error: unknown) => {
          throw keysFailure(status, error);
        });
      }
      const imported = `${counted(status.done - status.skipped, 'license')} imported`;
      const text =
        faulty === 0 ? `${imported}.` : `${imported}, ${faulty} skipped.\n\n${errorsText(preview.errors)}`;
      return { reply: { ...status, encoding: upload.encoding }, text: withNote(text, upload) };
    } catch (error) {
      await keys?.discard();
      throw error;
    }
  });
}

/** @returns no status after a dry run. Nothing is imported after an error, unless it says that this is unknown */
async function importUpload(
  access: ServiceAccess,
  upload: Upload,
  { map, field, allFields, plan, product, dryRun, skipFaulty, faultyOut }: ImportOptions,
) {
  const { client } = access;
  const { import_id: id, columns } = upload;
  const drop = () => client.cancelImport({ import_id: id });
  try {
    const mapping = mappingFor(columns, map);
    const recipe = {
      import_id: id,
      mapping,
      custom_fields: allFields
        ? await fieldsOfFile(columns, Object.values(mapping))
        : knownColumns(columns, '--field', field),
      defaults: { plan, product },
    };
    const preview = await client.previewImport(recipe);
    const faulty = preview.rows - preview.valid;
    if (faulty > 0 && faultyOut !== undefined)
      await saveResult(access, id, 'faulty', await createSecretFile(faultyOut));
    if (faulty > 0 && !(skipFaulty && preview.valid > 0)) throw importFailure(preview, upload);
    if (dryRun) {
      await drop();
      return { preview, faulty, status: null };
    }
    const status = await runImport(client, { ...recipe, skip_rows: faulty });
    if (status.state !== 'done') throw importFailure(status, upload);
    return { preview, faulty, status };
  } catch (error) {
    // The first failure is the one to report.
    await drop().catch(() => {});
    throw error;
  }
}

/** The reply may be lost after the licenses are issued; another import of the file would issue them twice. */
async function runImport(client: Client, recipe: Parameters<Client['runImport']>[0]): Promise<ImportStatus> {
  const { import_id: id } = recipe;
  return client.runImport(recipe).catch(async (error: unknown) => {
    const outcome = await client.cancelImport({ import_id: id }).catch((failure: unknown) => {
      if (failure instanceof ApiError && failure.code === 'import_not_found') return null;
      throw outcomeFailure(id, error);
    });
    if (outcome?.state !== 'done') throw error;
    return outcome;
  });
}

async function saveResult(
  access: ServiceAccess,
  id: string,
  part: ImportResult,
  file: SecretFile,
): Promise<void> {
  try {
    await file.finish(await access.download('downloadImportResult', { import_id: id, part }));
  } catch (error) {
    await file.discard();
    throw error;
  }
}

function outcomeFailure(id: string, error: unknown): CommandFailure {
  const { code, message } = toApiError(error);
  return new CommandFailure(
    code,
    `${message}; the licenses may be imported. Before you try again, run \`license-desk license import-status ${id}\``,
    { report: { fields: { import_id: id }, text: block([['Import', id]]) } },
  );
}

function keysFailure(status: ImportStatus, error: unknown): CommandFailure {
  const { code, message } = toApiError(error);
  return new CommandFailure(
    code,
    `${message}; the licenses are imported. To save their keys, run \`license-desk license import-status ${status.import_id} --keys-out FILE\``,
    { report: { fields: { ...status, ok: false }, text: statusText(status) } },
  );
}

type Findings = Pick<ImportStatus, 'errors' | 'error_count'>;

function importFailure({ errors, error_count: count }: Findings, upload: Upload): CommandFailure {
  const what = count === 1 ? '1 row has an error' : `${count} rows have errors`;
  return new CommandFailure('invalid_request', `nothing is imported: ${what}`, {
    report: {
      fields: { errors, error_count: count, encoding: upload.encoding },
      text: withNote(errorsText(errors), upload),
    },
  });
}

/** Names a text of the file to check if the encoding is a guess. */
function withNote(text: string, { encoding, columns, sample }: Upload): string {
  if (encoding !== 'windows-1252') return text;
  const example = [...sample.flat(), ...columns].find((cell) => /[^\0-\u007f]/u.test(cell)) ?? '';
  const note = 'The file is not UTF-8 and was read as Windows-1252. Check its letters, for example:';
  return `${text}\n\n${note} ${truncate(printable(example).trim(), 60)}`;
}

function errorsText(errors: readonly ImportError[]): string {
  return table(
    [
      { title: 'LINE', value: ({ line }) => line },
      { title: 'COLUMN', value: ({ column }) => column },
      { title: 'ERROR', value: ({ message }) => message },
    ],
    errors,
  );
}

function statusText({ import_id: id, state, done, total, skipped, errors }: ImportStatus): string {
  const facts = block([
    ['Import', id],
    ['State', state],
    ['Rows', `${done} of ${total}`],
    ['Skipped', skipped === 0 ? null : skipped],
  ]);
  return errors.length === 0 ? facts : `${facts}\n\n${errorsText(errors)}`;
}
