// API tokens: the bearer credentials of administrators and integrators.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, moment, network, pageOf, pageRequest, text, timestamp } from '#server/wire/fields.ts';

export const API_TOKEN_ROLES = ['admin', 'integrator'] as const;

/** In days; the maximum time that the previous secret stays valid after a rotation. */
const MAX_OVERLAP_DAYS = 30;

const apiToken = z.object({
  id,
  name: z.string(),
  role: z.enum(API_TOKEN_ROLES),
  last_four: z.string(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable().meta({ description: 'Null: never.' }),
  networks: z
    .array(z.string())
    .meta({ description: 'Networks from which the token may be used. Empty: any.' }),
  previous: z
    .object({
      last_four: z.string(),
      expires_at: timestamp,
      last_used_at: timestamp.nullable(),
    })
    .nullable()
    .meta({ description: 'The secret that the last rotation replaced, while it is still valid.' }),
  revoked_at: timestamp.nullable(),
});

export const apiTokenAdminContract = {
  createApiToken: endpoint({
    method: 'POST',
    path: '/api-tokens/',
    auth: 'admin',
    summary: 'Create an API token, which is shown once',
    request: z.object({
      name: text(200),
      role: z.enum(API_TOKEN_ROLES),
      expires_at: moment.optional(),
      networks: z
        .array(network)
        .max(50)
        .default([])
        .meta({ description: 'Networks from which the token may be used. Empty: any.' }),
    }),
    reply: z.object({ api_token: z.string(), token: apiToken }),
    errors: [],
  }),
  listApiTokens: endpoint({
    method: 'GET',
    path: '/api-tokens/',
    auth: 'admin',
    summary: 'List API tokens, newest first',
    request: z.object({ ...pageRequest }),
    reply: z.object(pageOf(apiToken)),
    errors: [],
  }),
  rotateApiToken: endpoint({
    method: 'POST',
    path: '/api-tokens/rotate/',
    auth: 'admin',
    summary: 'Give an API token a new secret, which is shown once; the old one stays valid for the overlap',
    request: z.object({
      id,
      overlap_days: z
        .number()
        .min(0)
        .max(MAX_OVERLAP_DAYS)
        .default(1)
        .meta({ description: 'How long the old secret stays valid; 0 ends it immediately.' }),
    }),
    reply: z.object({ api_token: z.string(), token: apiToken }),
    errors: ['token_not_found'],
  }),
  revokeApiToken: endpoint({
    method: 'POST',
    path: '/api-tokens/revoke/',
    auth: 'admin',
    summary: 'Revoke an API token immediately and permanently',
    request: z.object({ id }),
    reply: z.object({ token: apiToken }),
    errors: ['token_not_found'],
  }),
};

export type ApiTokenRole = (typeof API_TOKEN_ROLES)[number];
export type ApiTokenObject = z.input<typeof apiToken>;
