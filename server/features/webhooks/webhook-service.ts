// Registers webhooks, rotates their secrets and deletes them.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import { idFromCursor, toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { checkCertificates } from './certificate-text.ts';
import { createWebhookSecret } from './delivery-signature.ts';
import type { webhookAdminContract, webhookContract, WebhookObject } from './webhook-contract.ts';
import { createWebhookKeys, rotatedSecrets, unrotatedSecret, WEBHOOK_SECRET } from './webhook-secrets.ts';
import type { Webhook, WebhookStore } from './webhook-store.ts';
import type { TestSender } from './test-delivery.ts';
import { parseWebhookUrl } from './webhook-url.ts';

interface Needs {
  webhooks: WebhookStore;
  cancelDeliveries(webhookId: number): Promise<void>;
  audit: Audit;
  sealer: Sealer;
  transaction: RunTransaction;
  clock: Clock;
  checkUrl(url: string): Promise<URL>;
  sendTest: TestSender;
  /** Called after a webhook was resumed, whose deliveries may be due. */
  onQueued(): void;
}

function toWebhookObject(webhook: Webhook): WebhookObject {
  return {
    id: webhook.id,
    url: webhook.url,
    scope: webhook.scope as WebhookObject['scope'],
    description: webhook.description,
    status: webhook.lastError === null ? 'active' : 'failing',
    created_at: toTimestamp(webhook.createdAt),
    last_delivery_at: toTimestampOrNull(webhook.lastDeliveryAt),
    last_error: webhook.lastError,
    paused: webhook.pausedAt !== null,
    last_test_at: toTimestampOrNull(webhook.lastTestAt),
    last_test_error: webhook.lastTestError,
  };
}

/** Without the outcomes of deliveries, which an administrator does not change. */
function toAuditState(webhook: Webhook): Pick<WebhookObject, 'url' | 'scope' | 'description' | 'paused'> & {
  own_ca: boolean;
} {
  const { url, scope, description, paused } = toWebhookObject(webhook);
  return { url, scope, description, paused, own_ca: webhook.ca !== null };
}

function notFound(id: number): ApiError {
  return new ApiError('webhook_not_found', `webhook ${id} not found`);
}

export function createWebhookService(needs: Needs) {
  const { webhooks, audit, sealer, transaction, clock } = needs;
  const openKeys = createWebhookKeys(sealer);
  const seal = (secret: string) => sealer.seal(WEBHOOK_SECRET, Buffer.from(secret));

  async function mustFind(id: number): Promise<Webhook> {
    const webhook = await webhooks.find(id);
    if (!webhook) throw notFound(id);
    return webhook;
  }

  async function mustFindForChange(id: number): Promise<Webhook> {
    const webhook = await webhooks.findForChange(id);
    if (!webhook) throw notFound(id);
    return webhook;
  }

  return {
    async list({ cursor, limit }: RequestOf<typeof webhookContract.listWebhooks>) {
      const page = toPage(await webhooks.list(idFromCursor(cursor), limit), limit, toWebhookObject);
      return { webhooks: page.items, ...page };
    },

    async show(id: number) {
      const webhook = await mustFind(id);
      return { webhook: toWebhookObject(webhook), own_ca: webhook.ca !== null };
    },

    /**
     * Looks up the name, which may take long: do not call it inside a transaction.
     * @throws ApiError `webhook_url_forbidden`, or `invalid_request` if it is not a URL
     */
    async checkRegistration({ url }: RequestOf<typeof webhookContract.registerWebhook>): Promise<void> {
      await needs.checkUrl(url);
    },

    /** Looks up a new name, like `checkRegistration`. */
    async checkUpdate({ url }: RequestOf<typeof webhookAdminContract.updateWebhook>): Promise<void> {
      if (url !== undefined) await needs.checkUrl(url);
    },

    async register(request: RequestOf<typeof webhookContract.registerWebhook>, call: Call) {
      if (request.ca !== undefined) checkCertificates(request.ca);
      const url = parseWebhookUrl(request.url).href;
      const secret = createWebhookSecret();
      return transaction(async () => {
        const webhook = await webhooks.insert({
          url,
          scope: request.scope,
          description: request.description ?? null,
          ca: request.ca ?? null,
          ...unrotatedSecret(seal(secret)),
          lastDeliveryAt: null,
          lastError: null,
          pausedAt: null,
          lastTestAt: null,
          lastTestError: null,
          createdAt: clock.now(),
          deletedAt: null,
        });
        const object = toWebhookObject(webhook);
        await audit.record(call, 'webhook.registered', `webhook:${webhook.id}`, null, object);
        return { webhook: object, secret };
      });
    },

    async update(request: RequestOf<typeof webhookAdminContract.updateWebhook>, call: Call) {
      const { id, paused, url, scope, description, ca } = request;
      if (typeof ca === 'string') checkCertificates(ca);
      return transaction(async () => {
        const before = await mustFindForChange(id);
        const address = url === undefined ? before.url : parseWebhookUrl(url).href;
        const pausedAt = before.pausedAt ?? clock.now();
        const after: Webhook = {
          ...before,
          url: address,
          scope: scope ?? before.scope,
          description: description === undefined ? before.description : description,
          ca: ca === undefined ? before.ca : ca,
          // What is known about the health of the receiver does not hold for another one.
          ...(address === before.url ? {} : { lastError: null, lastTestAt: null, lastTestError: null }),
          ...(paused === undefined ? {} : { pausedAt: paused ? pausedAt : null }),
        };
        const { id: _id, ...row } = after;
        const [was, is] = [toAuditState(before), toAuditState(after)];
        if (JSON.stringify(was) !== JSON.stringify(is) || before.ca !== after.ca) {
          await webhooks.update(id, row);
          await audit.record(call, 'webhook.updated', `webhook:${id}`, was, is);
          if (before.pausedAt !== null && after.pausedAt === null) afterCommit(needs.onQueued);
        }
        return { webhook: toWebhookObject(after) };
      });
    },

    remove: (id: number, call: Call) =>
      transaction(async () => {
        const webhook = await mustFindForChange(id);
        await webhooks.update(id, { deletedAt: clock.now() });
        await needs.cancelDeliveries(id);
        await audit.record(call, 'webhook.deleted', `webhook:${id}`, toWebhookObject(webhook), null);
        return { webhook: toWebhookObject(webhook) };
      }),

    rotateSecret: (
      id: number,
      call: Call,
    ): Promise<ReplyOf<typeof webhookAdminContract.rotateWebhookSecret>> =>
      transaction(async () => {
        const webhook = await mustFindForChange(id);
        const secret = createWebhookSecret();
        const rotated = rotatedSecrets(webhook, seal(secret), clock.now());
        const { overlapEndsAt } = rotated;
        await webhooks.update(id, rotated);
        await audit.record(call, 'webhook.secret_rotated', `webhook:${id}`, null, {
          overlap_ends_at: overlapEndsAt,
        });
        return { webhook: toWebhookObject(webhook), secret, overlap_ends_at: toTimestamp(overlapEndsAt) };
      }),

    /** Sent once without retries. A webhook whose test failed is marked until the next test or a new URL. */
    async test(id: number): Promise<ReplyOf<typeof webhookAdminContract.testWebhook>> {
      const webhook = await mustFind(id);
      const keys = openKeys(webhook, clock.now());
      const attempt = await needs.sendTest({ url: webhook.url, ca: webhook.ca, ...keys });
      await transaction(() =>
        webhooks.markTested(webhook, {
          lastTestAt: Date.parse(attempt.started_at),
          lastTestError: attempt.delivered ? null : (attempt.error ?? `HTTP ${attempt.status}`),
        }),
      );
      return { attempt };
    },
  };
}

export type WebhookService = ReturnType<typeof createWebhookService>;
