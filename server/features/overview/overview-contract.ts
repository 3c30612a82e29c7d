// Everything on the overview screen, in one call.
import { z } from 'zod';
import { auditAdminContract } from '#server/features/audit/audit-contract.ts';
import { LICENSE_STATES } from '#server/features/licenses/license-contract.ts';
import { LICENSINGS } from '#server/rules/floating-terms.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { refusal } from '#server/wire/field-rules.ts';
import { id, queryNumber, timestamp } from '#server/wire/fields.ts';

const count = z.int();

/** The periods of the trend. All but the year are whole weeks, so that weekdays line up with the period before. */
export const TREND_DAYS = [7, 28, 91, 364] as const;
const eachDay = z.array(z.object({ day: z.iso.date(), count }));
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
      newest_issued: z
        .object({
          license_id: id,
          license_key: z.string(),
          holder: z.string(),
          licensing: z.enum(LICENSINGS),
        })
        .nullable(),
      failed_deliveries: count,
      /** On this UTC day: calls that client software was refused, and their licenses. */
      denied_today: z.object({ calls: count, licenses: count }),
      /** Floating licenses with at least 90 % of their seats in use. */
      busy_pools: z.object({
        count,
        /** The fullest first. */
        fullest: z.array(z.object({ license_id: id, holder: z.string(), in_use: count, seats: count })),
      }),
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
      recent: z.array(
        auditAdminContract.listAudit.reply.shape.items.element.extend({
          /** Of the license that the entry is about, if it still exists. */
          holder: z.string().nullable(),
        }),
      ),
    }),
    errors: [],
  }),
  overviewTrend: endpoint({
    method: 'GET',
    path: '/overview/trend/',
    auth: 'admin',
    summary: 'Show usage per day: a period that ends today, and the period before it',
    request: z.object({
      days: queryNumber(7, 364)
        .refine(
          (days) => TREND_DAYS.some((known) => known === days),
          refusal({
            message: `must be ${TREND_DAYS.join(', ')}`,
            reason: 'not_a_choice',
            values: { choices: TREND_DAYS.map(String) },
          }),
        )
        .default(28)
        .meta({ description: `Length of the period: ${TREND_DAYS.join(', ')} days.` }),
    }),
    reply: z.object({
      /** Licenses that were activated, and had neither expired nor been revoked, at the end of each day, from the last day before the period until today. */
      active_licenses: eachDay,
      /** Both periods, oldest day first, including days without any. */
      activations: eachDay,
      authorizations: eachDay,
      denied: eachDay,
    }),
    errors: [],
  }),
};
