// States of webhooks and deliveries, with their colors.
import type { DeliveryState, WebhookObject } from '#server/features/webhooks/webhook-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export type WebhookHealth = WebhookObject['status'] | 'unused';

export const HEALTH_TONES: Record<WebhookHealth, Tone> = { active: 'ok', failing: 'bad', unused: 'idle' };

/** Unknown until something was sent. */
export function healthOf(webhook: WebhookObject): WebhookHealth {
  return webhook.last_delivery_at === null && webhook.status === 'active' ? 'unused' : webhook.status;
}

export const DELIVERY_TONES: Record<DeliveryState, Tone> = {
  pending: 'info',
  delivering: 'info',
  retrying: 'warn',
  delivered: 'ok',
  failed: 'bad',
  cancelled: 'idle',
};

/** A short name for a receiver: `receiver.example:8443`. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** Indents JSON; returns other text unchanged. */
export function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
