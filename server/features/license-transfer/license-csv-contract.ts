// The columns of licenses as CSV: those of an export, and those of the files that an import returns.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { customField, foldFieldName, uniqueFieldNames } from '#server/wire/custom-fields.ts';
import type { CsvCell } from '#server/wire/csv.ts';
import { IMPORT_FIELDS } from './license-transfer-contract.ts';

interface LicenseColumn {
  name: string;
  cellOf(license: LicenseRecord): CsvCell;
}

/** The name of a column without one, by its position from 0. */
export const unnamedColumn = (index: number): string => `Column ${index + 1}`;
const UNNAMED = /^Column \d+$/u;

/** By column name. An import recognizes the same names. */
const CELLS: Readonly<Record<string, LicenseColumn['cellOf']>> = {
  license_key: (license) => license.license_key,
  holder: (license) => license.holder,
  email: (license) => license.email,
  product: (license) => license.product,
  plan: (license) => license.plan,
  state: (license) => license.state,
  issued_at: (license) => license.issued_at,
  expires_at: (license) => license.expires_at,
  devices: (license) => license.activation_count,
  max_devices: (license) => license.max_activations,
  order_number: (license) => license.order_number,
  notes: (license) => license.notes,
};

const COLUMNS: readonly LicenseColumn[] = Object.entries(CELLS).map(([name, cellOf]) => ({ name, cellOf }));

/** In the file of imported rows, before the columns of the uploaded file. */
const KEY_COLUMN = 'license_key';
const KEY_SUFFIX = '(file)';
/** The columns that the file of faulty rows begins with. It is imported again once it is corrected. */
export const FAULTY_COLUMNS = ['line', 'error'] as const;
const FAULTY_SUFFIX = '(import)';
const FIELD_SUFFIX = '(custom field)';

/** The name with the suffix, as often as it takes to be unlike all others. */
function withSuffix(name: string, suffix: string, isTaken: (name: string) => boolean): string {
  const longer = `${name} ${suffix}`;
  return isTaken(longer) ? withSuffix(longer, suffix, isTaken) : longer;
}

const withoutSuffixes = (name: string, suffix: string): string => name.replaceAll(` ${suffix}`, '');

const RESERVED_NAMES = new Set<string>([...Object.keys(CELLS), ...IMPORT_FIELDS]);

/** Whether an import makes a custom field of such a column only if it is asked to. */
export function isReservedColumn(name: string): boolean {
  return (
    RESERVED_NAMES.has(foldFieldName(name)) ||
    UNNAMED.test(name) ||
    withoutSuffixes(name, KEY_SUFFIX) === KEY_COLUMN
  );
}

/** Its own suffixes get another one, so that `fieldOfColumn` finds every name again. */
function needsSuffix(field: string): boolean {
  return isReservedColumn(field.replace(/(?: \(custom field\))+$/iu, ''));
}

const columnOfField = (field: string): string => (needsSuffix(field) ? `${field} ${FIELD_SUFFIX}` : field);

/** The name of the custom field that an export writes as this column. */
export function fieldOfColumn(column: string): string {
  const field = column.replace(/ \(custom field\)$/iu, '');
  return field !== column && needsSuffix(field) ? field : column;
}

/** @param fieldNames names of custom fields, which become columns */
export function licenseColumns(fieldNames: Iterable<string>): LicenseColumn[] {
  const fields = uniqueFieldNames(fieldNames).map((field) => ({
    name: columnOfField(field),
    cellOf: ({ custom_fields: fieldsOf }: LicenseRecord) => customField(fieldsOf, field),
  }));
  return [...COLUMNS, ...fields];
}

/** @param columns of the file, which may have one of these names */
export function faultyColumns(columns: readonly string[]): string[] {
  const isTaken = (name: string) => columns.includes(name);
  return FAULTY_COLUMNS.map((name) => (isTaken(name) ? withSuffix(name, FAULTY_SUFFIX, isTaken) : name));
}

/** The number of columns that the file has only because it is a file of faulty rows. */
export function countFaultyColumns(columns: readonly string[]): number {
  const isAdded = (name: string, index: number) =>
    withoutSuffixes(columns[index] ?? '', FAULTY_SUFFIX) === name;
  return FAULTY_COLUMNS.every(isAdded) ? FAULTY_COLUMNS.length : 0;
}

/** A column of the file gives way, so that `license_key` is the key of the imported license. */
export function keyColumns(columns: readonly string[]): string[] {
  const isTaken = (name: string) => columns.includes(name);
  const own = columns.map((name) => (name === KEY_COLUMN ? withSuffix(name, KEY_SUFFIX, isTaken) : name));
  return [KEY_COLUMN, ...own];
}
