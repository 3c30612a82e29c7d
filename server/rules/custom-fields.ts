// Changes the custom fields of a license.
import { type CustomFields, foldFieldName, MAX_CUSTOM_FIELDS } from '#server/wire/custom-fields.ts';
import { refusedField } from '#server/wire/errors.ts';
import { tooMany } from '#server/wire/field-rules.ts';

/** Null removes a field; instead of the changes, it removes all. */
export type CustomFieldChanges = Readonly<Record<string, string | null>> | null;

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
    const message = `a license has at most ${MAX_CUSTOM_FIELDS} custom fields (got ${fields.size})`;
    throw refusedField('custom_fields', tooMany(MAX_CUSTOM_FIELDS, message));
  }
  return Object.fromEntries(fields.values());
}
