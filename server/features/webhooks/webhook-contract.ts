// Webhooks: registrations and their deliveries (contract, section 6).
import { z } from 'zod';
import { EVENT_NAMES } from '#server/features/events/event-contract.ts';
import { licenseRef } from '#server/features/licenses/license-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import { id, moment, pageOf, pageRequest, queryId, text, timestamp } from '#server/wire/fields.ts';

const scope = z.enum(['all', ...EVENT_NAMES]).meta({ description: '`all`, or the name of one event.' });

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
      .meta({ description: '`failing`: the last delivery was not accepted.' }),
    created_at: timestamp,
    last_delivery_at: timestamp.nullable(),
    last_error: z.string().nullable(),
    paused: z.boolean().meta({ description: 'Whether deliveries wait until the webhook is resumed.' }),
    last_test_at: timestamp.nullable(),
    last_test_error: z
      .string()
      .nullable()
      .meta({ description: 'Why the last test event was not accepted. Null if it was.' }),
  })
  .meta({ id: 'Webhook' });

const secret = z.string().meta({ description: 'Signs deliveries. Shown only once.' });

const delivery = z.object({
  id,
  event: z.enum(EVENT_NAMES),
  webhook_id: id,
  url: z.string(),
  status: z.enum(DELIVERY_STATES),
  attempts: z
    .int()
    .meta({ description: 'Attempts in the current cycle. A manual retry starts a new cycle.' }),
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
    .meta({ description: 'PEM certificates of additional CAs that this receiver may use.' }),
});

/** `null` removes the description or the CAs. */
const edit = z.object({
  id,
  url: registration.shape.url.optional(),
  scope: scope.optional(),
  description: text(200).nullable().optional(),
  ca: z.string().max(32_768).nullable().optional(),
  paused: z.boolean().optional(),
});

const NAMES_WEBHOOK = z.object({ id: queryId.meta({ description: 'Webhook ID.' }) });

export const webhookContract = {
  listWebhooks: endpoint({
    method: 'GET',
    path: '/webhooks/',
    auth: 'bearer',
    summary: 'List webhooks, newest first',
    request: z.object({ ...pageRequest }),
    reply: z.object({ webhooks: z.array(webhook), ...pageOf(webhook) }),
    errors: [],
  }),
  deleteWebhook: endpoint({
    method: 'DELETE',
    path: '/webhooks/',
    auth: 'bearer',
    role: 'admin',
    summary: 'Delete a webhook',
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
    summary: 'Register a webhook',
    request: registration,
    reply: z.object({ webhook, secret }),
    errors: ['webhook_url_forbidden'],
  }),
};

export const webhookAdminContract = {
  showWebhook: endpoint({
    method: 'GET',
    path: '/webhooks/show/',
    auth: 'admin',
    summary: 'Show a webhook',
    request: NAMES_WEBHOOK,
    reply: z.object({
      webhook,
      own_ca: z.boolean().meta({ description: 'Whether its receiver may use additional CAs.' }),
    }),
    errors: ['webhook_not_found'],
  }),
  updateWebhook: endpoint({
    method: 'PUT',
    path: '/webhooks/',
    auth: 'admin',
    summary: 'Change a webhook; waiting deliveries go to the new URL',
    request: edit,
    reply: z.object({ webhook }),
    errors: ['webhook_not_found', 'webhook_url_forbidden'],
  }),
  rotateWebhookSecret: endpoint({
    method: 'POST',
    path: '/webhooks/rotate/',
    auth: 'admin',
    summary:
      'Rotate the secret of a webhook; for 24 hours, `webhook-signature` also carries a signature with the old one',
    request: z.object({ id }),
    reply: z.object({ webhook, secret, overlap_ends_at: timestamp }),
    errors: ['webhook_not_found'],
  }),
  testWebhook: endpoint({
    method: 'POST',
    path: '/webhooks/test/',
    auth: 'admin',
    summary: 'Send one signed test event now and show the result',
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
        .meta({ description: 'Only failed deliveries whose webhook still exists.' }),
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
      exact: z.boolean().meta({ description: 'False if there are more.' }),
    }),
    errors: [],
  }),
  countRecentDeliveries: endpoint({
    method: 'GET',
    path: '/deliveries/count-recent/',
    auth: 'admin',
    summary: 'Count the deliveries to a webhook in the last 24 hours',
    request: z.object({ webhook_id: queryId }),
    reply: z.object({
      delivered: z.int(),
      attempted: z.int().meta({ description: 'Those that were delivered, are retried, or have failed.' }),
      since: timestamp.meta({
        description: 'When the count begins: 24 hours ago, or later if there were many deliveries since.',
      }),
    }),
    errors: ['webhook_not_found'],
  }),
  showDelivery: endpoint({
    method: 'GET',
    path: '/deliveries/show/',
    auth: 'admin',
    summary: 'Show a delivery with its body and its newest 100 attempts',
    request: z.object({ id: queryId }),
    reply: z.object({ delivery, body: z.string(), attempts: z.array(attempt) }),
    errors: ['delivery_not_found'],
  }),
  retryDelivery: endpoint({
    method: 'POST',
    path: '/deliveries/retry/',
    auth: 'admin',
    summary: 'Retry a failed delivery with the same ID and the same bytes',
    request: z.object({ id }),
    reply: z.object({ delivery }),
    errors: ['delivery_not_found'],
  }),
  retryFailedDeliveries: endpoint({
    method: 'POST',
    path: '/deliveries/retry-failed/',
    auth: 'admin',
    summary: 'Retry the selected failed deliveries, or all since a time',
    request: z.object({
      ids: z.array(id).min(1).max(1000).optional(),
      webhook_id: id.optional(),
      since: moment.optional().meta({ description: 'Only deliveries created at or after this time.' }),
    }),
    reply: z.object({ retried: z.int() }),
    errors: [],
  }),
};

export type WebhookObject = z.input<typeof webhook>;
export type DeliveryObject = z.input<typeof delivery>;
export type AttemptObject = z.input<typeof attempt>;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
