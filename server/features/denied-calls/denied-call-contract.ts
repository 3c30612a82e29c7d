// Denied calls: what client software was refused, for administrators.
import { z } from 'zod';
import { licenseRef } from '#server/features/licenses/license-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, moment, pageOf, pageRequest, slug, timestamp } from '#server/wire/fields.ts';
import { DENIAL_REASONS } from './denial-reason-contract.ts';

/** The endpoint that denied the call. */
export const DENIED_CALLS = ['authorize', 'authorize_token', 'activate'] as const;

const deniedCall = z.object({
  id,
  license_id: id,
  license_key: z.string(),
  holder: z.string(),
  call: z.enum(DENIED_CALLS),
  error_code: z.enum(DENIAL_REASONS),
  machine_fingerprint: z.string().nullable(),
  product_slug: slug.nullable().meta({ description: 'The product that the call named.' }),
  feature: z.string().nullable(),
  address: z.string().nullable(),
  count: z.int().meta({ description: 'Number of equal calls on that UTC day.' }),
  first_at: timestamp,
  last_at: timestamp,
});

export const deniedCallAdminContract = {
  listDeniedCalls: endpoint({
    method: 'GET',
    path: '/licenses/denials/',
    auth: 'admin',
    summary: 'List denied calls, latest first; equal calls of a day are one entry',
    request: z.object({
      ...pageRequest,
      license: licenseRef.optional(),
      error_code: z.enum(DENIAL_REASONS).optional().meta({ description: 'Only denials with this code.' }),
      from: moment.optional().meta({ description: 'Only denials since then.' }),
    }),
    reply: z.object(pageOf(deniedCall)),
    errors: ['license_not_found'],
  }),
};

export type DeniedCallObject = z.input<typeof deniedCall>;
export type DeniedCallName = (typeof DENIED_CALLS)[number];
