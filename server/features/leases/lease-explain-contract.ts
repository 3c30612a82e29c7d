// "Why was it denied?" for checkouts: the outcome of each rule, without taking a seat.
import { z } from 'zod';
import { ruleInputs } from '#server/features/activations/activation-contract.ts';
import { licenseRef } from '#server/features/licenses/license-contract.ts';
import { RULE_OUTCOMES } from '#server/rules/license-verdict.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { ERROR_STATUS, type ErrorCode } from '#server/wire/errors.ts';
import { fingerprint, queryNumber, slug, text } from '#server/wire/fields.ts';
import { instanceId, MAX_UNITS, pool } from './lease-contract.ts';

const ERROR_CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/** In the order in which a checkout checks them. */
const CHECKOUT_RULE_NAMES = [
  'not_revoked',
  'in_term',
  'product',
  'feature',
  'licensing',
  'lease_rules',
  'queue',
  'seat',
] as const;

/** What an administrator can do about a failed rule. */
const CHECKOUT_REMEDIES = [
  'new_license',
  'renew',
  'other_product',
  'upgrade',
  'activate',
  'change_lease_rules',
  'wait',
  'reclaim_or_add_seats',
] as const;

export const leaseExplainContract = {
  explainCheckout: endpoint({
    method: 'GET',
    path: '/leases/explain/',
    auth: 'admin',
    summary: 'Check what a checkout would get now, and show the outcome of each rule, without taking a seat',
    request: z.object({
      license: licenseRef,
      product_slug: slug.optional(),
      feature: slug.optional(),
      user: text(200).optional(),
      host: text(200).optional(),
      machine_fingerprint: fingerprint.optional(),
      address: z.union([z.ipv4(), z.ipv6()]).optional(),
      instance_id: instanceId.optional(),
      units: queryNumber(1, MAX_UNITS).optional(),
    }),
    reply: z.object({
      granted: z.boolean(),
      reason: z.enum(ERROR_CODES).nullable(),
      counted_as: z.string().nullable(),
      rules: z.array(
        z.object({
          rule: z.enum(CHECKOUT_RULE_NAMES),
          outcome: z.enum(RULE_OUTCOMES),
          inputs: ruleInputs,
          remedy: z.enum(CHECKOUT_REMEDIES).nullable(),
        }),
      ),
      pool: pool.nullable(),
    }),
    errors: ['license_not_found'],
  }),
};

export type CheckoutRemedy = (typeof CHECKOUT_REMEDIES)[number];
