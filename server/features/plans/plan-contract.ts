// Plans: how long a license lasts, how many devices it allows, and what it includes.
import { z } from 'zod';
import { COUNT_BY, DEFAULT_TERMS, LICENSINGS } from '#server/rules/floating-terms.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, needsOneOf, pageOf, pageRequest, queryId, slug, text } from '#server/wire/fields.ts';

// The page imports contracts only.
export { COUNT_BY, LICENSINGS, SEAT_LIMITS } from '#server/rules/floating-terms.ts';

export const MAX_FEATURES = 200;
const features = z
  .array(slug)
  .max(MAX_FEATURES)
  .transform((names) => [...new Set(names)]);
/** Fits a 32-bit INTEGER column. */
const MAX_SEATS = 1_000_000_000;
const MIN_LEASE_SECONDS = 60;
const MAX_LEASE_SECONDS = 86_400;
const MAX_BORROW_HOURS = 8760;
const MAX_LINGER_SECONDS = 86_400;

const seats = z.int().min(1).max(MAX_SEATS).nullable();

/** The limits that a license can override. */
/** What null means differs between plans and licenses. */
export const SEAT_LIMIT_MEANINGS = {
  seats: 'Seats of a floating license',
  overdraft_seats: 'Seats that can be taken beyond `seats`. They are reported as overdraft',
  borrow_max_hours: 'How long a seat can be borrowed. 0: borrowing is not allowed',
  borrow_max_count: 'Seats that can be borrowed at once',
  borrow_keep_free: 'Seats that are never borrowed',
} as const;

export const seatLimits = {
  seats: seats.meta({ description: `${SEAT_LIMIT_MEANINGS.seats}; null for any number.` }),
  overdraft_seats: z
    .int()
    .min(0)
    .max(MAX_SEATS)
    .meta({ description: `${SEAT_LIMIT_MEANINGS.overdraft_seats}.` }),
  borrow_max_hours: z
    .int()
    .min(0)
    .max(MAX_BORROW_HOURS)
    .meta({ description: `${SEAT_LIMIT_MEANINGS.borrow_max_hours}.` }),
  borrow_max_count: z
    .int()
    .min(0)
    .max(MAX_SEATS)
    .nullable()
    .meta({ description: `${SEAT_LIMIT_MEANINGS.borrow_max_count}; null for any number.` }),
  borrow_keep_free: z
    .int()
    .min(0)
    .max(MAX_SEATS)
    .meta({ description: `${SEAT_LIMIT_MEANINGS.borrow_keep_free}.` }),
};

export const planObject = z
  .object({
    id,
    name: slug,
    display_name: z.string(),
    product: slug.nullable(),
    tier: z.int(),
    duration_days: z.int(),
    grace_days: z.int(),
    max_activations: z.int().nullable(),
    features: z.array(z.string()),
    archived: z.boolean(),
    licensing: z.enum(LICENSINGS),
    seats: z.int().nullable(),
    lease_seconds: z.int(),
    heartbeat_seconds: z
      .int()
      .meta({ description: 'How often clients send heartbeats: a third of `lease_seconds`.' }),
    count_by: z.enum(COUNT_BY),
    overdraft_seats: z.int(),
    borrow_max_hours: z.int(),
    borrow_max_count: z.int().nullable(),
    borrow_keep_free: z.int(),
    linger_seconds: z.int(),
  })
  .meta({ id: 'Plan' });

const planFields = {
  display_name: text(200),
  product: slug.nullable(),
  tier: z.int().min(0).max(1_000_000),
  duration_days: z.int().min(1).max(36_500),
  grace_days: z.int().min(0).max(3650),
  max_activations: z.int().min(1).max(MAX_SEATS).nullable(),
  features,
  archived: z.boolean(),
  licensing: z.enum(LICENSINGS).meta({
    description:
      '`node_locked`: activations take seats. `floating`: leases take seats and end by themselves.',
  }),
  lease_seconds: z
    .int()
    .min(MIN_LEASE_SECONDS)
    .max(MAX_LEASE_SECONDS)
    .meta({ description: 'How long a lease lasts without a heartbeat.' }),
  count_by: z.enum(COUNT_BY).meta({ description: 'What shares one seat.' }),
  linger_seconds: z
    .int()
    .min(0)
    .max(MAX_LINGER_SECONDS)
    .meta({ description: 'How long a released seat stays with its holder.' }),
  ...seatLimits,
};

const planChanges = z.object(planFields).partial();

export const planContract = {
  listPlans: endpoint({
    method: 'GET',
    path: '/plans/',
    auth: 'bearer',
    summary: 'List plans, lowest tier first',
    request: z.object({ ...pageRequest }),
    reply: z.object({ plans: z.array(planObject), ...pageOf(planObject) }),
    errors: [],
  }),
  createPlan: endpoint({
    method: 'POST',
    path: '/plans/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Create a plan',
    request: planChanges.extend({
      name: slug,
      duration_days: planFields.duration_days.default(365),
      grace_days: planFields.grace_days.default(0),
      tier: planFields.tier.default(0),
      max_activations: planFields.max_activations.default(1),
      product: planFields.product.default(null),
      features: features.default([]),
      archived: z.boolean().default(false),
      licensing: planFields.licensing.default('node_locked'),
      seats: seatLimits.seats.default(DEFAULT_TERMS.seats),
      lease_seconds: planFields.lease_seconds.default(DEFAULT_TERMS.leaseSeconds),
      count_by: planFields.count_by.default(DEFAULT_TERMS.countBy),
      overdraft_seats: seatLimits.overdraft_seats.default(DEFAULT_TERMS.overdraftSeats),
      borrow_max_hours: seatLimits.borrow_max_hours.default(DEFAULT_TERMS.borrowMaxHours),
      borrow_max_count: seatLimits.borrow_max_count.default(DEFAULT_TERMS.borrowMaxCount),
      borrow_keep_free: seatLimits.borrow_keep_free.default(DEFAULT_TERMS.borrowKeepFree),
      linger_seconds: planFields.linger_seconds.default(DEFAULT_TERMS.lingerSeconds),
    }),
    reply: z.object({ plan: planObject }),
    errors: ['plan_exists'],
  }),
  updatePlan: endpoint({
    method: 'PUT',
    path: '/plans/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Change a plan',
    request: needsOneOf(
      planChanges.extend({
        id: id.optional(),
        name: slug.optional(),
        new_name: slug.optional(),
        features: features.optional().meta({ description: 'Replaces all entitlements.' }),
        add_features: features.optional(),
        remove_features: features.optional(),
      }),
      'id',
      'name',
    ),
    reply: z.object({ plan: planObject }),
    errors: ['plan_not_found', 'plan_exists', 'plan_in_use'],
  }),
  deletePlan: endpoint({
    method: 'DELETE',
    path: '/plans/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Delete an unused plan',
    request: needsOneOf(
      z.object({
        id: queryId.optional().meta({ description: 'Plan ID.' }),
        name: slug.optional().meta({ description: 'Plan name.' }),
      }),
      'id',
      'name',
    ),
    reply: z.object({ plan: planObject }),
    errors: ['plan_not_found', 'plan_in_use'],
  }),
};

export type PlanObject = z.input<typeof planObject>;
