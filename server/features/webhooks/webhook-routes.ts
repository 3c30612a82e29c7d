import { type Handlers, implement, prepared, type Route } from '#server/platform/route.ts';
import type { DeliveryService } from './delivery-service.ts';
import { webhookAdminContract, type webhookContract } from './webhook-contract.ts';
import type { WebhookService } from './webhook-service.ts';

/** @param rows the public endpoints, or the same endpoints on the admin listener */
export function webhookRoutes(rows: typeof webhookContract, webhooks: WebhookService): Route[] {
  const handlers: Handlers<typeof webhookContract> = {
    listWebhooks: (request) => webhooks.list(request),
    deleteWebhook: ({ id }, call) => webhooks.remove(id, call),
    registerWebhook: prepared(webhooks.checkRegistration, webhooks.register),
  };
  return implement(rows, handlers);
}

export function webhookAdminRoutes(webhooks: WebhookService, deliveries: DeliveryService): Route[] {
  return implement(webhookAdminContract, {
    showWebhook: ({ id }) => webhooks.show(id),
    updateWebhook: prepared(webhooks.checkUpdate, webhooks.update),
    rotateWebhookSecret: ({ id }, call) => webhooks.rotateSecret(id, call),
    testWebhook: ({ id }) => webhooks.test(id),
    listDeliveries: (request) => deliveries.list(request),
    countRetriableDeliveries: (request) => deliveries.countRetriable(request),
    countRecentDeliveries: (request) => deliveries.countRecent(request),
    showDelivery: ({ id }) => deliveries.show(id),
    retryDelivery: ({ id }, call) => deliveries.retry(id, call),
    retryFailedDeliveries: (request, call) => deliveries.retryFailed(request, call),
  });
}
