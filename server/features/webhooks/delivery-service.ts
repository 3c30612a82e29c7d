// Shows deliveries and retries failed ones.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { idFromCursor, toPage } from '#server/database/page.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { toAttemptObject, toDeliveryObject } from './delivery-presenter.ts';
import type { DeliveryListStore, DeliveryView } from './delivery-list-store.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { webhookAdminContract } from './webhook-contract.ts';
import type { WebhookService } from './webhook-service.ts';

/** Counting stops here: exact larger numbers are not worth the wait. */
const COUNTED = 10_000;
/** The newest deliveries to all webhooks among which those to one are counted: no index leads to these. */
const READ = 20_000;

interface Needs {
  deliveries: DeliveryListStore & Pick<DeliveryStore, 'restartFailed'>;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  licenses: Pick<LicenseStore, 'find'>;
  webhooks: Pick<WebhookService, 'show'>;
  /** Called after deliveries have become due. */
  onQueued(): void;
}

export function createDeliveryService(needs: Needs) {
  const { deliveries, audit, transaction, clock, onQueued } = needs;

  async function mustFind(id: number): Promise<DeliveryView> {
    const delivery = await deliveries.find(id);
    if (!delivery) throw new ApiError('delivery_not_found', `delivery ${id} not found`);
    return delivery;
  }

  async function licenseIdOf(ref: string): Promise<number> {
    return requireLicense(await needs.licenses.find(byRef(ref))).id;
  }

  return {
    async list(request: RequestOf<typeof webhookAdminContract.listDeliveries>) {
      const { cursor, limit, license, webhook_id: webhookId, retriable, ...given } = request;
      const licenseId = license === undefined ? undefined : await licenseIdOf(license);
      const filter = { ...given, webhookId, licenseId, retriable: retriable === 'true' };
      const rows = await deliveries.list({ ...filter, before: idFromCursor(cursor), limit });
      return toPage(rows, limit, toDeliveryObject);
    },

    async countRetriable(request: RequestOf<typeof webhookAdminContract.countRetriableDeliveries>) {
      const { webhook_id: webhookId, since } = request;
      const count = await deliveries.countRetriable({ webhookId, since }, COUNTED + 1);
      return { count: Math.min(count, COUNTED), exact: count <= COUNTED };
    },

    async countRecent({
      webhook_id: webhookId,
    }: RequestOf<typeof webhookAdminContract.countRecentDeliveries>) {
      await needs.webhooks.show(webhookId);
      const dayAgo = clock.now() - DAY_MS;
      const { delivered, attempted, begin } = await deliveries.countRecent(webhookId, dayAgo, READ);
      return { delivered, attempted, since: toTimestamp(begin) };
    },

    async show(id: number) {
      const delivery = await mustFind(id);
      const attempts = await deliveries.attemptsOf(id);
      return {
        delivery: toDeliveryObject(delivery),
        body: await deliveries.bodyOf(id),
        attempts: attempts.map((attempt) => ({ id: attempt.id, ...toAttemptObject(attempt) })),
      };
    },

    /** Changes nothing if the delivery has not failed, is already being retried, or its webhook was deleted. */
    retry: (id: number, call: Call) =>
      transaction(async () => {
        const before = await mustFind(id);
        const restarted = await deliveries.restartFailed({ ids: [id] }, clock.now());
        const delivery = toDeliveryObject(await mustFind(id));
        if (restarted > 0) {
          await audit.record(call, 'delivery.retried', `delivery:${id}`, toDeliveryObject(before), delivery);
          afterCommit(onQueued);
        }
        return { delivery };
      }),

    retryFailed: (request: RequestOf<typeof webhookAdminContract.retryFailedDeliveries>, call: Call) =>
      transaction(async () => {
        const { ids, webhook_id: webhookId, since } = request;
        const retried = await deliveries.restartFailed({ ids, webhookId, since }, clock.now());
        if (retried > 0) {
          await audit.record(call, 'deliveries.retried', 'deliveries', null, { ...request, retried });
          afterCommit(onQueued);
        }
        return { retried };
      }),
  };
}

export type DeliveryService = ReturnType<typeof createDeliveryService>;
