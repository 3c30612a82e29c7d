// The form state of custom fields.
import {
  type CustomFields,
  foldFieldName,
  MAX_CUSTOM_FIELDS,
  uniqueFieldNames,
} from '#server/wire/custom-fields.ts';

export interface FieldDraft {
  /** Identifies the row while its name is edited. */
  row: number;
  name: string;
  value: string;
}

let rows = 0;

export function newField(name = '', value = ''): FieldDraft {
  rows += 1;
  return { row: rows, name, value };
}

export function fieldDrafts(fields: CustomFields): FieldDraft[] {
  return Object.entries(fields).map(([name, value]) => newField(name, value));
}

export const canAddField = (drafts: readonly FieldDraft[]) => drafts.length < MAX_CUSTOM_FIELDS;

const isGiven = ({ name, value }: FieldDraft) => name.trim() !== '' || value.trim() !== '';

/** Names that differ only in case count as one. */
export function hasNameTwice(drafts: readonly FieldDraft[]): boolean {
  const names = drafts.filter((draft) => isGiven(draft)).map(({ name }) => name.trim());
  return uniqueFieldNames(names).length < names.length;
}

/** Without empty rows. */
export function toFields(drafts: readonly FieldDraft[]): Record<string, string> {
  const given = drafts.filter((draft) => isGiven(draft));
  return Object.fromEntries(given.map(({ name, value }) => [name.trim(), value.trim()]));
}

/** The request that turns one state into the other: changed fields with their values, removed ones with null. */
export function fieldChanges(before: CustomFields, after: CustomFields): Record<string, string | null> {
  const kept = new Set(Object.keys(after).map((name) => foldFieldName(name)));
  const removed = Object.keys(before).filter((name) => !kept.has(foldFieldName(name)));
  const changed = Object.entries(after).filter(([name, value]) => before[name] !== value);
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...changed]);
}
