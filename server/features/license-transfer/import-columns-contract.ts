// The columns of a file that an import makes custom fields of, for the back office and the command line alike.
import { foldFieldName, MAX_FIELD_NAME } from '#server/wire/custom-fields.ts';
import { beginning } from '#server/wire/whole-characters.ts';
import { countFaultyColumns, fieldOfColumn, isReservedColumn } from './license-csv-contract.ts';

/**
 * All columns but those that the files of the server have anyway, such as the state or the error of a row.
 * @param assigned columns of fields of the license
 */
export function customColumns(columns: readonly string[], assigned: readonly string[]): string[] {
  return columns
    .slice(countFaultyColumns(columns))
    .filter((column) => !assigned.includes(column) && !isReservedColumn(column));
}

/** The beginning of the name; with a number if a field before has the same one. */
function fieldNameOf(wanted: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : ` ${number}`;
    const name = beginning(wanted, MAX_FIELD_NAME - suffix.length).trim() + suffix;
    if (!taken.has(foldFieldName(name))) return name;
  }
}

/** @returns the columns by name of their custom field */
export function fieldsOfColumns(
  columns: readonly string[],
  labelOf = (column: string): string => column,
): Record<string, string> {
  const taken = new Set<string>();
  return Object.fromEntries(
    columns.map((column) => {
      const name = fieldNameOf(fieldOfColumn(labelOf(column)), taken);
      taken.add(foldFieldName(name));
      return [name, column];
    }),
  );
}
