// Licenses: the object in every reply, and the calls that change one (contract, section 3).
import { z } from 'zod';
import { LICENSINGS } from '#server/rules/floating-terms.ts';
import { type Endpoint, endpoint, type FieldsSchema } from '#server/wire/endpoint.ts';
import { ERROR_STATUS, type ErrorCode } from '#server/wire/errors.ts';
import { onlyOne, refusal } from '#server/wire/field-rules.ts';
import {
  days,
  id,
  moment,
  needsOneOf,
  pageOf,
  pageRequest,
  queryNumber,
  searchText,
  slug,
  text,
  timestamp,
} from '#server/wire/fields.ts';
import { customFields } from './custom-field-contract.ts';
import { licenseChanges, newLicenseDetails } from './license-details-contract.ts';
import { seatLimitsInForce } from './license-seat-contract.ts';
import { timelineItem } from './license-timeline-contract.ts';

const ERROR_CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

export const LICENSE_STATES = ['issued', 'active', 'expiring', 'in_grace', 'expired', 'revoked'] as const;

export const licenseObject = z
  .object({
    license_id: id,
    license_key: z.string().meta({ examples: ['7K3QX-9M2TC-0AB1D-4EFGH-JKMNP'] }),
    holder: z.string(),
    product: slug,
    plan: z.string(),
    machine_fingerprint: z.string().nullable(),
    issued_at: timestamp,
    expires_at: timestamp,
    state: z.enum(LICENSE_STATES),
    grace_ends_at: timestamp,
    max_activations: z.int().nullable(),
    activation_count: z.int(),
    features: z.array(z.string()),
    licensing: z.enum(LICENSINGS),
    seats: z
      .int()
      .nullable()
      .meta({ description: 'Devices or, if floating, leases at once; null: unlimited.' }),
  })
  .meta({ id: 'License' });

/** Additional fields for administrators. */
export const licenseRecord = licenseObject
  .extend({
    email: z.string().nullable(),
    order_number: z.string().nullable(),
    notes: z.string().nullable(),
    custom_fields: customFields,
    first_activated_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
    revoke_reason: z.string().nullable(),
    seat_limits: seatLimitsInForce,
  })
  .meta({ id: 'LicenseRecord' });

/** In a list, which tells the seats in use of floating licenses as well. */
export const listedLicense = licenseRecord
  .extend({
    seats_in_use: z
      .int()
      .nullable()
      .meta({ description: 'Seats that the leases of a floating license hold; null if it is node-locked.' }),
  })
  .meta({ id: 'ListedLicense' });

/** How a public request names a license. An administrator's `REF` is one text with either. */
export const reference = {
  license_id: id.optional().meta({ description: 'License ID.' }),
  license_key: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'License key. Case, spaces and hyphens do not matter.' }),
};

/** A request about a license that is named by `license_id`, `license_key` or both. */
export function licenseRequest<Shape extends z.ZodRawShape>(fields: Shape) {
  return needsOneOf(z.object({ ...reference, ...fields }), 'license_id', 'license_key');
}

/** An administrator's reference in a query string or a command: an ID or a key. */
export const licenseRef = text(64).meta({ description: 'License ID or license key.' });

const renewal = { days: days.optional(), expires_at: moment.optional() };

const ONE_END = [
  (request: { days?: number | undefined; expires_at?: number | undefined }) =>
    request.days === undefined || request.expires_at === undefined,
  { ...refusal(onlyOne('days', 'expires_at')), path: ['days'] as string[] },
] as const;

/** The filters of a list of licenses. */
export const licenseFilter = {
  state: z.enum(LICENSE_STATES).optional().meta({ description: 'Only licenses in this state.' }),
  search: searchText(200).optional().meta({
    description:
      'Words of the holder, the email address, the order number or the values of custom fields in any order, part of the license key (at least 5 characters, spaces and hyphens ignored, O read as 0, I and L as 1) or part of a device fingerprint (at least 6).',
  }),
  plan: slug.optional().meta({ description: 'Only licenses of this plan.' }),
  product: slug.optional().meta({ description: 'Only licenses for this product.' }),
  expires_within_days: queryNumber(1, 3650).optional(),
};

/** Each license is changed separately, so that some can fail while others succeed. */
const bulkReply = z.object({
  done: z.array(id),
  failed: z.array(z.object({ license_id: id, error_code: z.enum(ERROR_CODES), message: z.string() })),
});

const licenseIds = z.array(id).min(1).max(100);

/** For these callers a revoked license is a conflict with the change, not a lack of permission. */
const REVOKED_IS_CONFLICT = { license_revoked: 409 };

export const licenseContract = {
  renew: endpoint({
    method: 'POST',
    path: '/renew/',
    auth: 'bearer',
    idempotent: true,
    summary: 'Renew a license',
    request: licenseRequest(renewal).refine(...ONE_END),
    reply: z.object({ license: licenseObject, previous_expires_at: timestamp }),
    errors: ['license_not_found', 'license_revoked', 'renewal_shortens'],
    errorStatus: REVOKED_IS_CONFLICT,
  }),
  upgrade: endpoint({
    method: 'POST',
    path: '/upgrade/',
    auth: 'bearer',
    idempotent: true,
    summary: 'Move a license to a plan of a higher tier',
    request: licenseRequest({ plan: slug }),
    reply: z.object({ license: licenseObject, previous_plan: z.string() }),
    errors: [
      'license_not_found',
      'plan_not_found',
      'plan_unchanged',
      'not_an_upgrade',
      'license_revoked',
      'product_mismatch',
    ],
    errorStatus: REVOKED_IS_CONFLICT,
  }),
};

/** The same change for administrators: they name the license by `REF` and see all its fields. */
function forAdministrators<Request extends FieldsSchema, Reply extends z.ZodRawShape>(
  { method, reply, errors }: Endpoint<FieldsSchema, z.ZodObject<Reply>>,
  {
    errors: further = [],
    ...itsOwn
  }: Pick<Endpoint<Request>, 'path' | 'summary' | 'request'> & Partial<Pick<Endpoint, 'errors'>>,
) {
  return endpoint({
    ...itsOwn,
    method,
    auth: 'admin',
    idempotent: true,
    reply: reply.extend({ license: licenseRecord }),
    errors: [...errors, ...further],
    errorStatus: REVOKED_IS_CONFLICT,
  });
}

export const licenseAdminContract = {
  createLicense: endpoint({
    method: 'POST',
    path: '/licenses/',
    auth: 'admin',
    idempotent: true,
    summary: 'Issue a license',
    request: z.object({ ...newLicenseDetails, ...renewal }).refine(...ONE_END),
    reply: z.object({ license: licenseRecord }),
    errors: ['plan_not_found', 'product_mismatch', 'license_is_node_locked'],
  }),
  listLicenses: endpoint({
    method: 'GET',
    path: '/licenses/',
    auth: 'admin',
    summary: 'List licenses, newest first unless sorted otherwise',
    request: z.object({
      ...pageRequest,
      ...licenseFilter,
      sort: z.enum(['created', 'expires', 'holder']).default('created'),
      order: z
        .enum(['asc', 'desc'])
        .optional()
        .meta({ description: 'Default: `desc` when sorted by `created`, otherwise `asc`.' }),
    }),
    reply: z.object(pageOf(listedLicense)),
    errors: [],
  }),
  countLicenses: endpoint({
    method: 'GET',
    path: '/licenses/count/',
    auth: 'admin',
    summary: 'Count licenses, up to 10,000',
    request: z.object(licenseFilter),
    reply: z.object({
      count: z.int(),
      exact: z.boolean().meta({ description: 'False if there are more.' }),
    }),
    errors: [],
  }),
  showLicense: endpoint({
    method: 'GET',
    path: '/licenses/show/',
    auth: 'admin',
    summary: 'Show one license',
    request: z.object({ ref: licenseRef }),
    reply: z.object({ license: licenseRecord }),
    errors: ['license_not_found'],
  }),
  updateLicense: endpoint({
    method: 'PUT',
    path: '/licenses/',
    auth: 'admin',
    summary:
      'Change the holder, email address, order number, notes, custom fields or seat limits of a license',
    request: z.object({ ref: licenseRef, ...licenseChanges }),
    reply: z.object({ license: licenseRecord }),
    errors: ['license_not_found', 'license_is_node_locked'],
  }),
  revokeLicense: endpoint({
    method: 'POST',
    path: '/licenses/revoke/',
    auth: 'admin',
    summary: 'Revoke a license permanently',
    request: z.object({ ref: licenseRef, reason: text(500).optional() }),
    reply: z.object({ license: licenseRecord }),
    errors: ['license_not_found'],
  }),
  renewLicense: forAdministrators(licenseContract.renew, {
    path: '/licenses/renew/',
    summary: 'Renew a license',
    request: z
      .object({
        ref: licenseRef,
        ...renewal,
        shorten: z
          .boolean()
          .default(false)
          .meta({ description: 'Allows an expiry date before the current one.' }),
        if_expires_at: moment.optional().meta({ description: 'Must be the present expiry date.' }),
      })
      .refine(...ONE_END),
    errors: ['expiry_changed'],
  }),
  renewLicenses: endpoint({
    method: 'POST',
    path: '/licenses/bulk/renew/',
    auth: 'admin',
    summary: 'Renew up to 100 licenses, each separately',
    request: z.object({ license_ids: licenseIds, days: days.optional() }),
    reply: bulkReply,
    errors: [],
  }),
  revokeLicenses: endpoint({
    method: 'POST',
    path: '/licenses/bulk/revoke/',
    auth: 'admin',
    summary: 'Revoke up to 100 licenses permanently, each separately',
    request: z.object({ license_ids: licenseIds, reason: text(500).optional() }),
    reply: bulkReply,
    errors: [],
  }),
  licenseTimeline: endpoint({
    method: 'GET',
    path: '/licenses/timeline/',
    auth: 'admin',
    summary: 'List what happened to a license, its devices, tokens and certificates, newest first',
    request: z.object({ ...pageRequest, license: licenseRef }),
    reply: z.object(pageOf(timelineItem)),
    errors: ['license_not_found'],
  }),
  upgradeLicense: forAdministrators(licenseContract.upgrade, {
    path: '/licenses/upgrade/',
    summary: 'Move a license to a plan of a higher tier',
    request: z.object({ ref: licenseRef, plan: slug }),
  }),
};

export type LicenseObject = z.input<typeof licenseObject>;
export type LicenseRecord = z.input<typeof licenseRecord>;
export type ListedLicense = z.input<typeof listedLicense>;
export type BulkReply = z.input<typeof bulkReply>;
