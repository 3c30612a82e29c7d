// The option for custom fields, and how they are printed.
import { InvalidArgumentError, type Command } from 'commander';
import { foldFieldName } from '#server/wire/custom-fields.ts';
import { clearedIfEmpty } from './option-values.ts';
import { RepeatableOption } from './repeatable-option.ts';

export type FieldOptions = Record<string, string>;

/** For the help. */
export const ESCAPING = 'write = in a name as `\\=`';
/** An equals sign after an even number of backslashes. */
const NAME_END = /(?<=(?<!\\)(?:\\\\)*)=/u;
/** Others are part of the name as they are. */
const ESCAPING_BACKSLASHES = /\\+(?==|$)/gu;

/** @param removal what an empty value does, for the help */
export function addFieldOption(command: Command, removal = ''): Command {
  return command.addOption(
    new RepeatableOption(
      '--field <name=value>',
      `custom field, for example "Cost center=4711"${removal}; repeat for each field; ${ESCAPING}`,
    ).argParser(addFieldPair),
  );
}

/** For an option that can be repeated. */
export function addFieldPair(text: string, before: FieldOptions = {}): FieldOptions {
  const end = text.search(NAME_END);
  const written = text.slice(0, Math.max(0, end));
  const name = written.replaceAll(ESCAPING_BACKSLASHES, (run) => run.slice(0, run.length / 2)).trim();
  if (name === '') throw new InvalidArgumentError('must be NAME=VALUE');
  const folded = foldFieldName(name);
  const isRepeated = Object.keys(before).some((other) => foldFieldName(other) === folded);
  if (isRepeated) throw new InvalidArgumentError('must name each field once');
  return { ...before, [name]: text.slice(end + 1).trim() };
}

/** For a change: an empty value removes the field. */
export function changedFieldValues(
  fields: FieldOptions | undefined,
): Record<string, string | null> | undefined {
  if (fields === undefined) return undefined;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, clearedIfEmpty(value)]));
}

/** All columns of a file that can be custom fields. @param assigned columns of other fields */
export async function fieldsOfFile(
  columns: readonly string[],
  assigned: readonly string[],
): Promise<FieldOptions> {
  // Loaded only here, with the contracts that it needs: they slow the start of other commands.
  const { customColumns, fieldsOfColumns } =
    await import('#server/features/license-transfer/import-columns-contract.ts');
  return fieldsOfColumns(customColumns(columns, assigned));
}
