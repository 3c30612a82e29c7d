// Plans: how long a license lasts, how many devices it allows, and what it includes.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, needsOneOf, pageOf, pageRequest, queryId, slug, text } from '#server/wire/fields.ts';

const features = z.array(slug).max(200);
/** Fits a 32-bit INTEGER column. */
const MAX_SEATS = 1_000_000_000;

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
      planChanges.extend({ id: id.optional(), name: slug.optional(), new_name: slug.optional() }),
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
