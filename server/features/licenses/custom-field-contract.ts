// The custom fields of a license: texts by name.
import { z } from 'zod';
import {
  foldFieldName,
  MAX_CUSTOM_FIELDS,
  MAX_FIELD_NAME,
  MAX_FIELD_VALUE,
} from '#server/wire/custom-fields.ts';
import { refusal, sentenceOf, tooMany } from '#server/wire/field-rules.ts';
import { text } from '#server/wire/fields.ts';

const fieldName = text(MAX_FIELD_NAME);
const fieldValue = text(MAX_FIELD_VALUE);

/** A record leaves it out, so it could not be refused there. */
const RESERVED_NAME = '__proto__';

/** Values by name of a field. @param description for the API reference */
export function byFieldName<Value extends z.ZodType>(
  value: Value,
  description: string,
  max = MAX_CUSTOM_FIELDS,
) {
  const fieldsByName = z
    .record(fieldName, value)
    .superRefine((fields, context) => {
      const names = Object.keys(fields);
      if (names.length > max) {
        const rule = tooMany(max, `must have at most ${max} fields`);
        context.addIssue({ code: 'custom', ...refusal(rule) });
        return;
      }
      const folded = names.map((name) => foldFieldName(name));
      for (const [index, name] of names.entries()) {
        if (folded.indexOf(folded[index] as string) === index) continue;
        context.addIssue({ code: 'custom', message: sentenceOf('duplicate_name'), path: [name] });
      }
    })
    .meta({ description, override: { maxProperties: max } });
  return z.preprocess((fields: z.input<typeof fieldsByName>, context) => {
    for (const name of Object.keys(fields ?? {})) {
      if (name.trim() !== RESERVED_NAME) continue;
      context.addIssue({ code: 'custom', message: sentenceOf('reserved_name'), path: [name] });
    }
    return fields;
  }, fieldsByName);
}

const LIMITS = `At most ${MAX_CUSTOM_FIELDS}; names of up to ${MAX_FIELD_NAME} characters, unique regardless of case and not \`${RESERVED_NAME}\`, and values of up to ${MAX_FIELD_VALUE}.`;

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
