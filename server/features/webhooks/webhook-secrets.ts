import type { Sealer } from '#server/platform/sealer.ts';
import type { WebhookRow } from './webhook-model.ts';

export const WEBHOOK_SECRET = 'webhook-secret';

export interface WebhookSecrets {
  secret: string;
  /** Set during the overlap after a rotation. */
  previousSecret?: string;
}

/** @param now epoch milliseconds */
export function openWebhookSecrets(
  sealer: Sealer,
  webhook: Pick<WebhookRow, 'secretSealed' | 'previousSecretSealed' | 'overlapEndsAt'>,
  now: number,
): WebhookSecrets {
  const open = (sealed: string) => sealer.open(WEBHOOK_SECRET, sealed).toString();
  const { secretSealed, previousSecretSealed: previous, overlapEndsAt } = webhook;
  const overlaps = previous !== null && overlapEndsAt !== null && now < overlapEndsAt;
  return { secret: open(secretSealed), ...(overlaps ? { previousSecret: open(previous) } : {}) };
}
