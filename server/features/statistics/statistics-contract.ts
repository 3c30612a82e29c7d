import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { LICENSE_STATES } from '#server/features/licenses/license-contract.ts';
import { moment, slug } from '#server/wire/fields.ts';

/** How many days of daily counts one call returns. */
export const MAX_DAYS = 3660;

const count = z.int();
const perDay = z.array(z.object({ day: z.iso.date(), count }));

export const statisticsContract = {
  stats: endpoint({
    method: 'GET',
    path: '/stats/',
    auth: 'bearer',
    summary: 'Get statistics',
    request: z.object({
      from: moment
        .optional()
        .meta({ description: `Start of the daily counts, at most ${MAX_DAYS} days before \`to\`.` }),
      to: moment.optional().meta({ description: 'End of the daily counts, not included.' }),
      product: slug.optional().meta({ description: 'Only this product.' }),
    }),
    reply: z.object({
      licenses: z.object({
        total: count,
        by_state: z.record(z.enum(LICENSE_STATES), count),
        by_plan: z.record(z.string(), count),
        by_product: z.record(z.string(), count),
      }),
      activations: z.object({ total: count, active: count, per_day: perDay }),
      tokens: z.object({ active: count, expired: count, revoked: count, replaced: count }),
      certificates: z.object({ valid: count, revoked: count, expired: count }),
      webhooks: z.object({ registrations: count, delivered: count, retrying: count, failed: count }),
      authorizations: z.object({ per_day: perDay }),
    }),
    errors: [],
  }),
};
