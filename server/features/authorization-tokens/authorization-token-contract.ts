// Authorization: checks whether a license, a device or the holder of a token may use a product.
import { z } from 'zod';
import { ruleInputs } from '#server/features/activations/activation-contract.ts';
import { LICENSE_STATES, licenseRef } from '#server/features/licenses/license-contract.ts';
import { RULE_OUTCOMES, VALIDATION_REASONS } from '#server/rules/license-verdict.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import {
  days,
  fingerprint,
  id,
  pageOf,
  pageRequest,
  queryId,
  secretText,
  slug,
  text,
  timestamp,
} from '#server/wire/fields.ts';

export const TOKEN_STATES = ['active', 'expired', 'revoked', 'replaced'] as const;

/** In the order in which they are checked. The last is about activating the device and does not affect the result. */
const AUTHORIZATION_RULE_NAMES = ['not_revoked', 'in_term', 'product', 'device', 'feature', 'seat'] as const;

/** What an administrator can do about a failed rule. */
export const REMEDIES = [
  'new_license',
  'renew',
  'other_product',
  'activate',
  'release_device',
  'upgrade',
] as const;

const authorizationToken = z.object({
  id,
  name: z.string().nullable(),
  license_id: id,
  product: slug,
  state: z.enum(TOKEN_STATES),
  last_four: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
  ended_at: timestamp.nullable(),
  last_used_at: timestamp.nullable(),
});

const listedToken = authorizationToken.extend({ holder: z.string() });

export const authorizationContract = {
  authorizeToken: endpoint({
    method: 'POST',
    path: '/authorize/token/',
    auth: 'public',
    rateLimit: 'own',
    summary: 'Check an authorization token',
    request: z.object({ token: secretText.nullable().optional(), product_slug: slug.optional() }),
    reply: z.object({
      valid: z.boolean(),
      reason: z.enum(VALIDATION_REASONS).optional(),
      license_id: id,
      product_slug: slug,
      expires_at: timestamp,
    }),
    errors: ['missing_token', 'token_invalid'],
  }),
  authorize: endpoint({
    method: 'POST',
    path: '/authorize/',
    auth: 'public',
    summary: 'Check whether a license is authorized',
    request: z.object({
      license_key: z.string().max(64),
      product_slug: slug.optional(),
      machine_fingerprint: fingerprint.optional(),
      feature: text(100).optional(),
    }),
    reply: z.object({
      authorized: z.boolean(),
      reason: z.enum(VALIDATION_REASONS).nullable(),
      license_id: id,
      product_slug: slug,
      plan: z.string(),
      state: z.enum(LICENSE_STATES),
      features: z.array(z.string()),
      expires_at: timestamp,
    }),
    errors: ['license_not_found'],
  }),
};

export const authorizationAdminContract = {
  explainAuthorization: endpoint({
    method: 'GET',
    path: '/licenses/explain/',
    auth: 'admin',
    summary: 'Check whether a license is authorized, and show the outcome of each rule',
    request: z.object({
      license: licenseRef,
      product_slug: slug.optional(),
      machine_fingerprint: fingerprint.optional(),
      feature: text(100).optional(),
    }),
    reply: z.object({
      authorized: z.boolean(),
      reason: z.enum(VALIDATION_REASONS).nullable(),
      rules: z.array(
        z.object({
          rule: z.enum(AUTHORIZATION_RULE_NAMES),
          outcome: z.enum(RULE_OUTCOMES),
          inputs: ruleInputs,
          remedy: z.enum(REMEDIES).nullable(),
        }),
      ),
    }),
    errors: ['license_not_found'],
  }),
};

export const authorizationTokenAdminContract = {
  issueToken: endpoint({
    method: 'POST',
    path: '/tokens/',
    auth: 'admin',
    summary: 'Issue an authorization token, which replaces the active one for the same license and product',
    request: z.object({
      license: licenseRef,
      product: slug.optional(),
      days: days.default(365),
      name: text(200).optional(),
    }),
    reply: z.object({
      token: z.string(),
      authorization_token: authorizationToken,
      replaced: authorizationToken.nullable(),
    }),
    errors: ['license_not_found', 'license_revoked'],
    errorStatus: { license_revoked: 409 },
  }),
  listTokens: endpoint({
    method: 'GET',
    path: '/tokens/',
    auth: 'admin',
    summary: 'List authorization tokens, newest first',
    request: z.object({ ...pageRequest, license: licenseRef.optional() }),
    reply: z.object(pageOf(listedToken)),
    errors: ['license_not_found'],
  }),
  showToken: endpoint({
    method: 'GET',
    path: '/tokens/show/',
    auth: 'admin',
    summary: 'Show an authorization token',
    request: z.object({ id: queryId }),
    reply: z.object({ authorization_token: authorizationToken }),
    errors: ['token_not_found'],
  }),
  revokeToken: endpoint({
    method: 'POST',
    path: '/tokens/revoke/',
    auth: 'admin',
    summary: 'Revoke an authorization token immediately and permanently',
    request: z.object({ id }),
    reply: z.object({ authorization_token: authorizationToken }),
    errors: ['token_not_found'],
  }),
};

export type AuthorizationTokenObject = z.input<typeof authorizationToken>;
export type ListedTokenObject = z.input<typeof listedToken>;
export type Remedy = (typeof REMEDIES)[number];
export type TokenState = (typeof TOKEN_STATES)[number];
