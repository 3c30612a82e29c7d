// Custom fields of a license: what an organization records beside the holder, such as its cost center. Pure.
import { ApiError } from '#server/wire/errors.ts';

/** Texts by name, in the order in which they were added. */
export type CustomFields = Readonly<Record<string, string>>;

/** Null removes a field; instead of the changes, it removes all. */
export type CustomFieldChanges = Readonly<Record<string, string | null>> | null;

export const MAX_CUSTOM_FIELDS = 20;
export const MAX_FIELD_NAME = 60;
export const MAX_FIELD_VALUE = 500;

/** Names that differ only in case name the same field. */
export function foldFieldName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** Each name once; the first spelling stands for all. */
export function uniqueFieldNames(names: Iterable<string>): string[] {
  const byFolded = new Map<string, string>();
  for (const name of names) {
    const folded = foldFieldName(name);
    if (!byFolded.has(folded)) byFolded.set(folded, name);
  }
  return [...byFolded.values()];
}

/** The value of the field with this name in any spelling; null if there is none. */
export function customField(fields: CustomFields, name: string): string | null {
  const folded = foldFieldName(name);
  return Object.entries(fields).find(([other]) => foldFieldName(other) === folded)?.[1] ?? null;
}

/**
 * A changed field keeps its place and takes the new spelling of its name. New fields follow.
 * @throws ApiError `invalid_request` if there are too many fields
 */
export function changeCustomFields(before: CustomFields, changes: CustomFieldChanges): CustomFields {
  if (changes === null) return {};
  const fields = new Map(Object.entries(before).map((field) => [foldFieldName(field[0]), field]));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) fields.delete(foldFieldName(name));
    else fields.set(foldFieldName(name), [name, value]);
  }
  if (fields.size > MAX_CUSTOM_FIELDS) {
    throw new ApiError(
      'invalid_request',
      `custom_fields: a license has at most ${MAX_CUSTOM_FIELDS} custom fields (got ${fields.size})`,
    );
  }
  return Object.fromEntries(fields.values());
}
