// The custom fields of a license: texts by name.
import { z } from 'zod';
import {
  foldFieldName,
  MAX_CUSTOM_FIELDS,
  MAX_FIELD_NAME,
  MAX_FIELD_VALUE,
} from '#server/wire/custom-fields.ts';
import { text } from '#server/wire/fields.ts';

const fieldName = text(MAX_FIELD_NAME);
const fieldValue = text(MAX_FIELD_VALUE);

/** Values by name of a field. @param description for the API reference */
export function byFieldName<Value extends z.ZodType>(value: Value, description: string) {
  return z
    .record(fieldName, value)
    .superRefine((fields, context) => {
      const names = Object.keys(fields);
      if (names.length > MAX_CUSTOM_FIELDS) {
        context.addIssue({ code: 'custom', message: `must have at most ${MAX_CUSTOM_FIELDS} fields` });
        return;
      }
      const folded = names.map((name) => foldFieldName(name));
      for (const [index, name] of names.entries()) {
        if (folded.indexOf(folded[index] as string) === index) continue;
        context.addIssue({ code: 'custom', message: 'is given twice', path: [name] });
      }
    })
    .meta({ description, override: { maxProperties: MAX_CUSTOM_FIELDS } });
}

const LIMITS = `At most ${MAX_CUSTOM_FIELDS}; names of up to ${MAX_FIELD_NAME} characters, unique regardless of case, and values of up to ${MAX_FIELD_VALUE}.`;

/** In a reply. */
export const customFields = z
  .record(z.string(), z.string())
  .meta({ description: 'What administrators record about the license, by name.' });

/** In a request for a new license. */
export const newCustomFields = byFieldName(
  fieldValue,
  `What administrators record about the license, by name. ${LIMITS}`,
);

/** In a request for a change. */
export const customFieldChanges = byFieldName(
  fieldValue.nullable(),
  `Only these fields are changed. ${LIMITS} Null removes a field; null instead of the object removes all.`,
).nullable();
