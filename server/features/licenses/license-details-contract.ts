// What an administrator enters about a license: its holder, order, custom fields and seat limits.
import { z } from 'zod';
import { multilineText, slug, text } from '#server/wire/fields.ts';
import { customFieldChanges, newCustomFields } from './custom-field-contract.ts';
import { ownSeatLimits } from './license-seat-contract.ts';

const holder = text(200);
const email = z.email().max(254);
const orderNumber = text(100);
const notes = multilineText(4000);

/** Of a new license. */
export const newLicenseDetails = {
  holder,
  email: email.optional(),
  plan: slug.default('standard'),
  product: slug.optional(),
  order_number: orderNumber.optional(),
  notes: notes.optional(),
  custom_fields: newCustomFields.optional(),
  ...ownSeatLimits,
};

/** Editable details of a license; null clears a field. */
export const licenseChanges = {
  holder: holder.optional(),
  email: email.nullable().optional(),
  order_number: orderNumber.nullable().optional(),
  notes: notes.nullable().optional(),
  custom_fields: customFieldChanges.optional(),
  ...ownSeatLimits,
};
