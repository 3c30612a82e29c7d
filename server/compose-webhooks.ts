// The construction of what tells partners: registrations, deliveries, test events.
import { readFileSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import type { Audit } from './audit/audit-service.ts';
import { adminContract, publicContract } from './contract.ts';
import type { Database } from './database/connect.ts';
import type { RunTransaction } from './database/transaction.ts';
import { byRef, licenseNotFound } from './licenses/license-reference.ts';
import type { LicenseStore } from './licenses/license-store.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Sealer } from './platform/sealer.ts';
import { createDeliveryService } from './webhooks/delivery-service.ts';
import { createDeliveryStore } from './webhooks/delivery-store.ts';
import { createDispatchStore } from './webhooks/dispatch-store.ts';
import { createTestSender } from './webhooks/test-delivery.ts';
import { webhookAdminRoutes, webhookRoutes } from './webhooks/webhook-routes.ts';
import { createWebhookService } from './webhooks/webhook-service.ts';
import { createWebhookStore } from './webhooks/webhook-store.ts';
import { checkWebhookUrl } from './webhooks/webhook-url.ts';

interface Needs {
  config: Config;
  licenses: LicenseStore;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  sealer: Sealer;
  /** Called once deliveries have been committed. */
  onQueued(): void;
}

/** got and what belongs to it are loaded only where something is sent. */
async function openSender(config: Config) {
  const { createDeliverySender } = await import('./webhooks/delivery-sender.ts');
  return createDeliverySender({
    allow: config.webhookAllow,
    extraCa: config.webhookCa === null ? [] : [readFileSync(config.webhookCa, 'utf8')],
    timeoutMs: config.webhookTimeoutSeconds * 1000,
  });
}

export function composeWebhooks(sequelize: Database, needs: Needs) {
  const { config, clock } = needs;
  const dispatches = createDispatchStore(sequelize);
  const webhooks = createWebhookService({
    ...needs,
    webhooks: createWebhookStore(sequelize),
    checkUrl: (url) => checkWebhookUrl(url, { allow: config.webhookAllow, lookup }),
    sendTest: createTestSender(() => openSender(config), clock),
  });
  const deliveries = createDeliveryService({
    ...needs,
    deliveries: createDeliveryStore(sequelize),
    byRef,
    licenseNotFound,
  });
  return {
    publicRoutes: webhookRoutes(publicContract, webhooks),
    adminRoutes: [...webhookRoutes(adminContract, webhooks), ...webhookAdminRoutes(webhooks, deliveries)],
    /** Whether any delivery is still to be sent. */
    hasWaiting: async () => (await dispatches.listWaiting()).length > 0,
  };
}
