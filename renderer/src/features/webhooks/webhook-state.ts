// Registrations and deliveries, as the page shows them.
import type { DeliveryState, WebhookObject } from '#server/features/webhooks/webhook-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export type WebhookHealth = WebhookObject['status'] | 'unused';

export const HEALTH_TONES: Record<WebhookHealth, Tone> = { active: 'ok', failing: 'bad', unused: 'idle' };

/** Where nothing was sent yet, nothing is known. */
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

/** `partner.example:8443`, which is how people speak of a receiver. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** JSON as it is read, not as it is sent; anything else as it is. */
export function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
