// CSV export of licenses, and import from the CSV files of other systems.
import { z } from 'zod';
import { licenseFilter } from '#server/features/licenses/license-contract.ts';
import { byFieldName } from '#server/features/licenses/custom-field-contract.ts';
import { csvStyle } from '#server/wire/csv-fields.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { brokenRuleFields, slug, uploadedFile } from '#server/wire/fields.ts';

export const CSV = 'text/csv';
export const JSON_LINES = 'application/jsonl';
const MAX_IMPORT_BYTES = 20 * 1_048_576;
export const MAX_IMPORT_ROWS = 50_000;
/**
 * Each license has fewer, but an export has a column for each field of any of them. A request has room for so many long
 * names.
 */
export const MAX_IMPORT_FIELDS = 400;
/** `error_count` includes the rest. */
export const MAX_SHOWN_ERRORS = 200;

export const IMPORT_STATES = ['uploaded', 'running', 'done', 'failed', 'cancelled'] as const;

/** Fields that a column can be mapped to: a field of `createLicense`, or an existing license key. */
export const IMPORT_FIELDS = [
  'holder',
  'email',
  'plan',
  'product',
  'expires_at',
  'days',
  'license_key',
  'order_number',
  'notes',
] as const;

const importId = z.uuid();
const columnName = z.string().min(1).max(200);

/** How the columns of the file become licenses. */
const recipe = {
  import_id: importId,
  mapping: z.object({
    holder: columnName,
    email: columnName.optional(),
    plan: columnName.optional(),
    product: columnName.optional(),
    expires_at: columnName.optional(),
    days: columnName.optional(),
    license_key: columnName.optional(),
    order_number: columnName.optional(),
    notes: columnName.optional(),
  }),
  custom_fields: byFieldName(
    columnName,
    `The column of each custom field, by name of the field. At most ${MAX_IMPORT_FIELDS}; a row has values for as many as a license can have.`,
    MAX_IMPORT_FIELDS,
  ).default({}),
  defaults: z
    .object({ plan: slug.optional(), product: slug.optional() })
    .default({})
    .meta({ description: 'Used where the cell is empty or no column is mapped.' }),
};

/** Encodings of files, as spreadsheets write them. */
const ENCODINGS = ['utf-8', 'utf-16', 'windows-1252'] as const;
const encoding = z.enum(ENCODINGS).meta({
  description:
    'How the file was read. `windows-1252` is a guess, for a file that is not UTF-8 and has no byte order mark: check its letters such as ä.',
});

/** Files that an import leaves for a day. */
export const IMPORT_RESULTS = ['faulty', 'keys'] as const;

const importError = z.object({
  line: z.int().meta({ description: 'The line in the file on which the row begins, from 1.' }),
  column: z.string().nullable(),
  ...brokenRuleFields,
});

const findings = {
  errors: z.array(importError).meta({ description: `The first ${MAX_SHOWN_ERRORS}.` }),
  error_count: z.int(),
};

const importStatus = z.object({
  import_id: importId,
  state: z.enum(IMPORT_STATES),
  done: z.int().meta({ description: 'Rows. None of them is visible before the state is `done`.' }),
  total: z.int(),
  skipped: z.int().meta({ description: 'Faulty rows that were left out.' }),
  ...findings,
});

export const licenseTransferAdminContract = {
  exportLicenses: endpoint({
    method: 'GET',
    path: '/licenses/export/',
    auth: 'admin',
    summary: 'Download all licenses that match a filter as CSV, newest first',
    request: z.object({ ...licenseFilter, ...csvStyle }),
    reply: z.object({}),
    errors: [],
    documents: { [CSV]: 'The licenses.' },
  }),
  uploadImport: endpoint({
    method: 'POST',
    path: '/licenses/import/',
    auth: 'admin',
    summary: 'Upload a CSV file of licenses without importing it',
    request: z.object({ file: uploadedFile }),
    reply: z.object({
      import_id: importId,
      columns: z.array(z.string()),
      sample: z.array(z.array(z.string())).meta({
        description: 'The first rows; if the encoding is a guess, those in which it matters come first.',
      }),
      rows: z.int(),
      encoding,
    }),
    errors: [],
    upload: { contentType: CSV, maxBytes: MAX_IMPORT_BYTES },
  }),
  previewImport: endpoint({
    method: 'POST',
    path: '/licenses/import/preview/',
    auth: 'admin',
    summary: 'Check every row of an uploaded file',
    request: z.object(recipe),
    reply: z.object({ rows: z.int(), valid: z.int(), encoding, ...findings }),
    errors: ['import_not_found'],
  }),
  runImport: endpoint({
    method: 'POST',
    path: '/licenses/import/run/',
    auth: 'admin',
    summary: 'Import an uploaded file, all rows or none; replies when the import has finished',
    request: z.object({
      ...recipe,
      skip_rows: z.int().min(0).default(0).meta({
        description:
          'Number of faulty rows to leave out, as the preview has found them: `rows` less `valid`. If a different number is faulty, nothing is imported.',
      }),
    }),
    reply: importStatus,
    errors: ['import_not_found'],
  }),
  downloadImportResult: endpoint({
    method: 'GET',
    path: '/licenses/import/result/',
    auth: 'admin',
    summary: 'Download the faulty rows of an import with their errors, or its rows with their license keys',
    request: z.object({
      import_id: importId,
      part: z.enum(IMPORT_RESULTS).meta({
        description: '`faulty`: since the last check. `keys`: since the import. Both are kept for a day.',
      }),
      form: z.enum(['csv', 'json_lines']).default('csv').meta({
        description:
          '`json_lines`: each row as a JSON array on a line. `error` is then JSON, an array like `errors` of the preview.',
      }),
      ...csvStyle,
    }),
    reply: z.object({}),
    errors: ['import_not_found'],
    documents: {
      [CSV]: 'The rows as in the uploaded file, with `line` and `error`, or `license_key`.',
      [JSON_LINES]: 'The same as JSON, if `form` asks for it.',
    },
  }),
  showImport: endpoint({
    method: 'GET',
    path: '/licenses/import/status/',
    auth: 'admin',
    summary: 'Show the progress of an import',
    request: z.object({ import_id: importId }),
    reply: importStatus,
    errors: ['import_not_found'],
  }),
  cancelImport: endpoint({
    method: 'POST',
    path: '/licenses/import/cancel/',
    auth: 'admin',
    summary: 'Cancel an unfinished import, undo it and remove its file',
    request: z.object({ import_id: importId }),
    reply: importStatus,
    errors: ['import_not_found'],
  }),
};

export type ImportEncoding = (typeof ENCODINGS)[number];
export type ImportField = (typeof IMPORT_FIELDS)[number];
export type ImportResult = (typeof IMPORT_RESULTS)[number];
export type ImportState = (typeof IMPORT_STATES)[number];
export type ImportError = z.input<typeof importError>;
export type ImportStatus = z.input<typeof importStatus>;
