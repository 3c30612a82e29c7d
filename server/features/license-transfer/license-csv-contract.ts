// The columns of licenses as CSV, for the export of all and of selected ones, and those of faulty rows.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { customField, foldFieldName, uniqueFieldNames } from '#server/wire/custom-fields.ts';
import type { CsvCell } from '#server/wire/csv.ts';

interface LicenseColumn {
  name: string;
  cellOf(license: LicenseRecord): CsvCell;
}

/** The name of a column without one, by its position from 0. */
export const unnamedColumn = (index: number): string => `Column ${index + 1}`;

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

/** Whether the export has this column for every license. */
export function isLicenseColumn(name: string): boolean {
  return COLUMNS.some((column) => column.name === foldFieldName(name));
}

/** The name with the suffix, as often as it takes to be unlike all others. */
function withSuffix(name: string, suffix: string, isTaken: (name: string) => boolean): string {
  const longer = `${name} ${suffix}`;
  return isTaken(longer) ? withSuffix(longer, suffix, isTaken) : longer;
}

/** @param fieldNames names of custom fields, which become columns */
export function licenseColumns(fieldNames: Iterable<string>): LicenseColumn[] {
  const names = uniqueFieldNames(fieldNames);
  const folded = new Set(names.map(foldFieldName));
  const isField = (name: string) => folded.has(foldFieldName(name));
  const fields = names.map((field) => ({
    // No two columns of a file may have the same name.
    name: isLicenseColumn(field) ? withSuffix(field, '(custom field)', isField) : field,
    cellOf: ({ custom_fields: fieldsOf }: LicenseRecord) => customField(fieldsOf, field),
  }));
  return [...COLUMNS, ...fields];
}

/** The columns that the file of faulty rows begins with. It is imported again once it is corrected. */
export const FAULTY_COLUMNS = ['line', 'error'] as const;
const FAULTY_SUFFIX = '(import)';

/** @param columns of the file, which may have one of these names */
export function faultyColumns(columns: readonly string[]): string[] {
  const isTaken = (name: string) => columns.includes(name);
  return FAULTY_COLUMNS.map((name) => (isTaken(name) ? withSuffix(name, FAULTY_SUFFIX, isTaken) : name));
}

/** The number of columns that the file has only because it is a file of faulty rows. */
export function countFaultyColumns(columns: readonly string[]): number {
  const isAdded = (name: string, index: number) =>
    columns[index]?.replaceAll(` ${FAULTY_SUFFIX}`, '') === name;
  return FAULTY_COLUMNS.every(isAdded) ? FAULTY_COLUMNS.length : 0;
}

/** A column of the file gives way, so that `license_key` is the key of the imported license. */
export function keyColumns(columns: readonly string[]): string[] {
  const isTaken = (name: string) => columns.includes(name);
  const own = columns.map((name) => (name === KEY_COLUMN ? withSuffix(name, KEY_SUFFIX, isTaken) : name));
  return [KEY_COLUMN, ...own];
}
