// What the forms for registering and editing a webhook ask for.
import type { EventName } from '#server/features/events/event-contract.ts';
import type { WebhookObject } from '#server/features/webhooks/webhook-contract.ts';

export interface WebhookDraft {
  url: string;
  scope: 'all' | EventName;
  description: string;
  /** PEM. The stored one is not shown, so this is empty unless it is replaced. */
  ca: string;
  removesCa: boolean;
}

export function newDraft(webhook?: WebhookObject): WebhookDraft {
  return {
    url: webhook?.url ?? 'https://',
    scope: webhook?.scope ?? 'all',
    description: webhook?.description ?? '',
    ca: '',
    removesCa: false,
  };
}

/** For the API. Without `ca`, the CAs stay. */
export function requestOf({ url, scope, description, ca, removesCa }: WebhookDraft) {
  return {
    url: url.trim(),
    scope,
    description: description.trim() || null,
    ...(removesCa ? { ca: null } : {}),
    ...(ca.trim() && !removesCa ? { ca } : {}),
  };
}
