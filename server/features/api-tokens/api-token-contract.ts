// API tokens: the bearer credentials of administrators and integrators.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, pageOf, pageRequest, text, timestamp } from '#server/wire/fields.ts';

export const API_TOKEN_ROLES = ['admin', 'integrator'] as const;

const apiToken = z.object({
  id,
  name: z.string(),
  role: z.enum(API_TOKEN_ROLES),
  last_four: z.string(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
});

export const apiTokenAdminContract = {
  createApiToken: endpoint({
    method: 'POST',
    path: '/api-tokens/',
    auth: 'admin',
    summary: 'Create an API token; it is shown once',
    request: z.object({ name: text(200), role: z.enum(API_TOKEN_ROLES).default('admin') }),
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
  revokeApiToken: endpoint({
    method: 'POST',
    path: '/api-tokens/revoke/',
    auth: 'admin',
    summary: 'Revoke an API token, at once and for good',
    request: z.object({ id }),
    reply: z.object({ token: apiToken }),
    errors: ['token_not_found'],
  }),
};

export type ApiTokenRole = (typeof API_TOKEN_ROLES)[number];
export type ApiTokenObject = z.input<typeof apiToken>;
