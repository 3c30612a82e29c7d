import { recentMap } from '#server/platform/recent-map.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { type SigningKeys, signingKeysOf } from './delivery-signature.ts';
import type { WebhookRow } from './webhook-model.ts';

export const WEBHOOK_SECRET = 'webhook-secret';

/** Far more secrets than are usually in use. */
const MAX_KEPT = 1000;

export interface WebhookKeys {
  keys: SigningKeys;
  /** Set during the overlap after a rotation. */
  previousKeys?: SigningKeys;
}

/** @param now epoch milliseconds @throws SealError */
export type OpenWebhookKeys = (
  webhook: Pick<WebhookRow, 'secretSealed' | 'previousSecretSealed' | 'overlapEndsAt'>,
  now: number,
) => WebhookKeys;

/** Keeps the keys of recently opened secrets: opening one costs more than its signatures. */
export function createWebhookKeys(sealer: Sealer): OpenWebhookKeys {
  const opened = recentMap<string, SigningKeys>(MAX_KEPT);

  function open(sealed: string): SigningKeys {
    const known = opened.get(sealed);
    if (known) return known;
    const keys = signingKeysOf(sealer.open(WEBHOOK_SECRET, sealed).toString());
    opened.set(sealed, keys);
    return keys;
  }

  return ({ secretSealed, previousSecretSealed: previous, overlapEndsAt }, now) => {
    const overlaps = previous !== null && overlapEndsAt !== null && now < overlapEndsAt;
    return { keys: open(secretSealed), ...(overlaps ? { previousKeys: open(previous) } : {}) };
  };
}
