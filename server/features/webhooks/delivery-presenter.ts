import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { DeliveryView } from './delivery-list-store.ts';
import type { AttemptResult } from './delivery-store.ts';
import type { AttemptObject, DeliveryObject } from './webhook-contract.ts';

export function toDeliveryObject(delivery: DeliveryView): DeliveryObject {
  return {
    id: delivery.id,
    event: delivery.event as DeliveryObject['event'],
    webhook_id: delivery.webhookId,
    url: delivery.url,
    status: delivery.status as DeliveryObject['status'],
    attempts: delivery.attempts,
    last_error: delivery.lastError,
    next_attempt_at: toTimestampOrNull(delivery.nextAttemptAt),
    created_at: toTimestamp(delivery.createdAt),
  };
}

/** An attempt, stored or just made. */
export function toAttemptObject(attempt: AttemptResult): Omit<AttemptObject, 'id'> {
  return {
    started_at: toTimestamp(attempt.startedAt),
    ms: attempt.ms,
    delivered: attempt.delivered,
    status: attempt.status,
    error_class: attempt.errorClass,
    error: attempt.error,
    remote_address: attempt.remoteAddress,
    reply: attempt.reply,
  };
}
