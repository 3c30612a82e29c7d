// Wires webhooks: registrations, deliveries, test events.
import { lookup } from 'node:dns/promises';
import type { Audit } from '#server/features/audit/audit-service.ts';
import { adminContract, publicContract } from '#server/contract.ts';
import type { Database } from '#server/database/connect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { createDeliveryService } from '#server/features/webhooks/delivery-service.ts';
import { createDeliveryListStore } from '#server/features/webhooks/delivery-list-store.ts';
import type { DeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import { createTestSender } from '#server/features/webhooks/test-delivery.ts';
import { webhookAdminRoutes, webhookRoutes } from '#server/features/webhooks/webhook-routes.ts';
import { createWebhookService } from '#server/features/webhooks/webhook-service.ts';
import { createWebhookStore } from '#server/features/webhooks/webhook-store.ts';
import { checkWebhookUrl } from '#server/features/webhooks/webhook-url.ts';
import { openSender, senderSettings } from './webhook-sender.ts';

interface Needs {
  config: Config;
  licenses: LicenseStore;
  deliveries: DeliveryStore;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  sealer: Sealer;
  /** Called after deliveries have been committed. */
  onQueued(): void;
}

export function composeWebhooks(sequelize: Database, needs: Needs) {
  const { config, clock } = needs;
  const webhooks = createWebhookService({
    ...needs,
    webhooks: createWebhookStore(sequelize),
    cancelDeliveries: needs.deliveries.cancel,
    checkUrl: (url) => checkWebhookUrl(url, { allow: config.webhookAllow, lookup }),
    sendTest: createTestSender(() => openSender(senderSettings(config)), clock),
  });
  const listed = createDeliveryListStore(sequelize);
  const deliveries = createDeliveryService({
    ...needs,
    webhooks,
    deliveries: { ...needs.deliveries, ...listed },
  });
  return {
    publicRoutes: webhookRoutes(publicContract, webhooks),
    adminRoutes: [...webhookRoutes(adminContract, webhooks), ...webhookAdminRoutes(webhooks, deliveries)],
    /** Number of failed deliveries that can be retried. */
    countFailed: listed.countFailed,
    /** Whether any delivery is waiting to be sent. */
    hasWaiting: async () => (await needs.deliveries.listWaiting()).length > 0,
  };
}
