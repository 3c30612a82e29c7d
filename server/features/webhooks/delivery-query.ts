// Selects the failed deliveries that a retry restarts, for counting and for restarting them.
import { allOf, type Condition, given } from '#server/database/condition.ts';

export interface FailedFilter {
  ids?: readonly number[] | undefined;
  webhookId?: number | undefined;
  since?: number | undefined;
}

/** Deliveries of a deleted webhook cannot be retried. */
export const IS_RETRIABLE = `status = 'failed' AND webhook_id IN (SELECT id FROM webhooks WHERE deleted_at IS NULL)`;

export function failedConditions({ webhookId, since }: Omit<FailedFilter, 'ids'>): Condition {
  const conditions = { webhookId: 'webhook_id = $webhookId', since: 'created_at >= $since' };
  return allOf(given(conditions, { webhookId, since }));
}
