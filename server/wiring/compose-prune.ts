// The stores that the retention job prunes.
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import type { Database } from '#server/database/connect.ts';
import { createDeniedCallStore } from '#server/features/denied-calls/denied-call-store.ts';
import { createEventStore } from '#server/features/events/event-store.ts';
import { createIdempotentReplyStore } from '#server/features/idempotency/idempotent-reply-store.ts';
import { createLeaseDenialStore } from '#server/features/leases/lease-denial-store.ts';
import { createLeaseStore } from '#server/features/leases/lease-store.ts';
import { createLeaseUsageStore } from '#server/features/leases/lease-usage-store.ts';
import { createLicenseImportStore } from '#server/features/license-transfer/license-import-store.ts';
import type { PruneStores } from '#server/features/retention/retention-run.ts';
import { createRetentionRunStore } from '#server/features/retention/retention-run-store.ts';
import { createDeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import { createWebhookStore } from '#server/features/webhooks/webhook-store.ts';

export function composePrune(sequelize: Database): PruneStores {
  const deliveries = createDeliveryStore(sequelize);
  return {
    plain: {
      attempts: deliveries.removeOldAttempts,
      audit: createAuditStore(sequelize).removeOld,
      idempotency: createIdempotentReplyStore(sequelize).removeOld,
      imports: createLicenseImportStore(sequelize).removeOld,
      denied_calls: createDeniedCallStore(sequelize).removeOld,
      leases: createLeaseStore(sequelize).removeOld,
      lease_denials: createLeaseDenialStore(sequelize).removeOld,
      lease_usage: createLeaseUsageStore(sequelize).removeOld,
    },
    events: createEventStore(sequelize),
    deliveries,
    webhooks: createWebhookStore(sequelize),
    runs: createRetentionRunStore(sequelize),
  };
}
