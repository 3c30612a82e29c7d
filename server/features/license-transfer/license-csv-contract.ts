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

/** Whether the export has this column for every license. */
export function isLicenseColumn(name: string): boolean {
  return COLUMNS.some((column) => column.name === foldFieldName(name));
}

/** @param fieldNames names of custom fields, which become columns */
export function licenseColumns(fieldNames: Iterable<string>): LicenseColumn[] {
  const fields = uniqueFieldNames(fieldNames).map((field) => ({
    // No two columns of a file may have the same name.
    name: isLicenseColumn(field) ? `${field} (custom field)` : field,
    cellOf: ({ custom_fields: fieldsOf }: LicenseRecord) => customField(fieldsOf, field),
  }));
  return [...COLUMNS, ...fields];
}

/** The columns that the file of faulty rows begins with. It is imported again once it is corrected. */
export const FAULTY_COLUMNS = ['line', 'error'] as const;

/** The number of columns that the file has only because it is a file of faulty rows. */
export function countFaultyColumns(columns: readonly string[]): number {
  return FAULTY_COLUMNS.every((name, index) => columns[index] === name) ? FAULTY_COLUMNS.length : 0;
}
