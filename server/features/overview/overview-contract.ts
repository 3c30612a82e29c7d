// Everything on the overview screen, in one call.
import { z } from 'zod';
import { auditAdminContract } from '#server/features/audit/audit-contract.ts';
import { LICENSE_STATES } from '#server/features/licenses/license-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, timestamp } from '#server/wire/fields.ts';

const count = z.int();
/** Each of the last 30 UTC days, ending today, including days without any. */
const perDay = z.array(z.object({ day: z.iso.date(), count }));

const soonExpired = z.object({
  license_id: id,
  license_key: z.string(),
  holder: z.string(),
  product: z.string(),
  plan: z.string(),
  state: z.enum(LICENSE_STATES),
  expires_at: timestamp,
});

export const overviewContract = {
  overview: endpoint({
    method: 'GET',
    path: '/overview/',
    auth: 'admin',
    summary:
      'Show the overview: counts, the last 30 days, expiring licenses, failed deliveries, recent changes',
    request: z.object({}),
    reply: z.object({
      licenses: z.object({ total: count, by_state: z.record(z.enum(LICENSE_STATES), count) }),
      activations_per_day: perDay,
      authorizations_per_day: perDay,
      /** Licenses that expire within this many days. Grace periods are not included. */
      expiring: z.object({ days_7: count, days_30: count, days_90: count, soonest: z.array(soonExpired) }),
      /** The newest license in the state `issued`, or null. */
      newest_issued: z.object({ license_id: id, license_key: z.string(), holder: z.string() }).nullable(),
      failed_deliveries: count,
      /** Null until the certificate authority is first used. */
      revocation_list: z
        .object({
          number: count,
          built_at: timestamp,
          this_update: timestamp,
          next_update: timestamp,
          revoked: count,
          /** Whether a revocation is not in the CRL yet. */
          waiting: z.boolean(),
        })
        .nullable(),
      authority: z.object({ not_after: timestamp }).nullable(),
      recent: auditAdminContract.listAudit.reply.shape.items,
    }),
    errors: [],
  }),
};
