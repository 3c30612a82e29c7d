// The option for custom fields, and how they are printed.
import { InvalidArgumentError, type Command } from 'commander';
import { foldFieldName } from '#server/wire/custom-fields.ts';
import { clearedIfEmpty } from './option-values.ts';
import { RepeatableOption } from './repeatable-option.ts';

export type FieldOptions = Record<string, string>;

/** @param removal what an empty value does, for the help */
export function addFieldOption(command: Command, removal = ''): Command {
  return command.addOption(
    new RepeatableOption(
      '--field <name=value>',
      `custom field, for example "Cost center=4711"${removal}; repeat for each field`,
    ).argParser(addFieldPair),
  );
}

/** For an option that can be repeated. */
export function addFieldPair(text: string, before: FieldOptions = {}): FieldOptions {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/su.exec(text) ?? [];
  if (name.trim() === '') throw new InvalidArgumentError('must be NAME=VALUE');
  const folded = foldFieldName(name.trim());
  const isRepeated = Object.keys(before).some((other) => foldFieldName(other) === folded);
  if (isRepeated) throw new InvalidArgumentError('must name each field once');
  return { ...before, [name.trim()]: value.trim() };
}

/** For a change: an empty value removes the field. */
export function changedFieldValues(
  fields: FieldOptions | undefined,
): Record<string, string | null> | undefined {
  if (fields === undefined) return undefined;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, clearedIfEmpty(value)]));
}
