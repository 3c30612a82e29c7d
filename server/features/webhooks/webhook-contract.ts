// Webhooks: registrations, and what became of each delivery (contract, section 6).
import { z } from 'zod';
import { EVENT_NAMES } from '#server/features/events/event-contract.ts';
import { licenseRef } from '#server/features/licenses/license-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, moment, pageOf, pageRequest, queryId, text, timestamp } from '#server/wire/fields.ts';

const scope = z.enum(['all', ...EVENT_NAMES]).meta({ description: '`all`, or one event' });

export const DELIVERY_STATES = [
  'pending',
  'delivering',
  'retrying',
  'delivered',
  'failed',
  'cancelled',
] as const;

const webhook = z
  .object({
    id,
    url: z.string(),
    scope,
    description: z.string().nullable(),
    status: z
      .enum(['active', 'failing'])
      .meta({ description: 'failing: the last delivery was not accepted' }),
    created_at: timestamp,
    last_delivery_at: timestamp.nullable(),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'Webhook' });

const secret = z.string().meta({ description: 'Shown once; deliveries are signed with it' });

const delivery = z.object({
  id,
  event: z.enum(EVENT_NAMES),
  webhook_id: id,
  url: z.string(),
  status: z.enum(DELIVERY_STATES),
  attempts: z.int().meta({ description: 'Of the running cycle; a manual retry starts a new one' }),
  last_error: z.string().nullable(),
  next_attempt_at: timestamp.nullable(),
  created_at: timestamp,
});

const attempt = z.object({
  id,
  started_at: timestamp,
  ms: z.int(),
  delivered: z.boolean(),
  status: z.int().nullable(),
  error_class: z.string().nullable(),
  error: z.string().nullable(),
  remote_address: z.string().nullable(),
  reply: z.string(),
});

const registration = z.object({
  url: z.string().max(2048),
  scope,
  description: text(200).optional(),
  ca: z
    .string()
    .max(32_768)
    .optional()
    .meta({ description: 'PEM certificates that this receiver may present beside the usual authorities' }),
});

const NAMES_WEBHOOK = z.object({ id: queryId });

export const webhookContract = {
  listWebhooks: endpoint({
    method: 'GET',
    path: '/webhooks/',
    auth: 'bearer',
    summary: 'List webhook registrations, newest first',
    request: z.object({ ...pageRequest }),
    reply: z.object({ webhooks: z.array(webhook), ...pageOf(webhook) }),
    errors: [],
  }),
  deleteWebhook: endpoint({
    method: 'DELETE',
    path: '/webhooks/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Delete a registration; its open deliveries are cancelled',
    request: NAMES_WEBHOOK,
    reply: z.object({ webhook }),
    errors: ['webhook_not_found'],
  }),
  registerWebhook: endpoint({
    method: 'POST',
    path: '/webhooks/register/',
    auth: 'bearer',
    role: 'admin',
    idempotent: true,
    summary: 'Register a webhook; its secret is shown once',
    request: registration,
    reply: z.object({ webhook, secret }),
    errors: ['webhook_url_forbidden'],
  }),
};

export const webhookAdminContract = {
  rotateWebhookSecret: endpoint({
    method: 'POST',
    path: '/webhooks/rotate/',
    auth: 'admin',
    summary: 'Give a registration a new secret; for 24 hours `webhook-signature` carries both signatures',
    request: z.object({ id }),
    reply: z.object({ webhook, secret, overlap_ends_at: timestamp }),
    errors: ['webhook_not_found'],
  }),
  testWebhook: endpoint({
    method: 'POST',
    path: '/webhooks/test/',
    auth: 'admin',
    summary: 'Send a signed test event now, once, and tell how it went',
    request: z.object({ id }),
    reply: z.object({ attempt: attempt.omit({ id: true }) }),
    errors: ['webhook_not_found'],
  }),
  listDeliveries: endpoint({
    method: 'GET',
    path: '/deliveries/',
    auth: 'admin',
    summary: 'List deliveries, newest first',
    request: z.object({
      ...pageRequest,
      status: z.enum(DELIVERY_STATES).optional(),
      webhook_id: queryId.optional(),
      event: z.enum(EVENT_NAMES).optional(),
      license: licenseRef.optional(),
      since: moment.optional(),
      retriable: z
        .literal('true')
        .optional()
        .meta({ description: 'Only those that failed and whose webhook is still registered' }),
    }),
    reply: z.object(pageOf(delivery)),
    errors: ['license_not_found'],
  }),
  countRetriableDeliveries: endpoint({
    method: 'GET',
    path: '/deliveries/count-retriable/',
    auth: 'admin',
    summary: 'Count failed deliveries that can be retried, up to 10,000',
    request: z.object({ webhook_id: queryId.optional(), since: moment.optional() }),
    reply: z.object({
      count: z.int(),
      exact: z.boolean().meta({ description: 'false: there are more than that' }),
    }),
    errors: [],
  }),
  showDelivery: endpoint({
    method: 'GET',
    path: '/deliveries/show/',
    auth: 'admin',
    summary: 'Show a delivery with its body and its newest hundred attempts',
    request: z.object({ id: queryId }),
    reply: z.object({ delivery, body: z.string(), attempts: z.array(attempt) }),
    errors: ['delivery_not_found'],
  }),
  retryDelivery: endpoint({
    method: 'POST',
    path: '/deliveries/retry/',
    auth: 'admin',
    summary: 'Start a fresh cycle for a failed delivery: the same id, the same bytes',
    request: z.object({ id }),
    reply: z.object({ delivery }),
    errors: ['delivery_not_found'],
  }),
  retryFailedDeliveries: endpoint({
    method: 'POST',
    path: '/deliveries/retry-failed/',
    auth: 'admin',
    summary: 'Start a fresh cycle for the selected failed deliveries, or for all that failed since a time',
    request: z.object({
      ids: z.array(id).min(1).max(1000).optional(),
      webhook_id: id.optional(),
      since: moment.optional().meta({ description: 'Deliveries made at or after this' }),
    }),
    reply: z.object({ retried: z.int() }),
    errors: [],
  }),
};

export type WebhookObject = z.input<typeof webhook>;
export type DeliveryObject = z.input<typeof delivery>;
export type AttemptObject = z.input<typeof attempt>;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
