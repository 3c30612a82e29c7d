// States of webhooks and deliveries, with their colors.
import type { DeliveryState, WebhookObject } from '#server/features/webhooks/webhook-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export type WebhookHealth = WebhookObject['status'] | 'unused' | 'paused' | 'testFailed';

export const HEALTH_TONES: Record<WebhookHealth, Tone> = {
  active: 'ok',
  failing: 'bad',
  unused: 'idle',
  paused: 'warn',
  testFailed: 'bad',
};

/** A test that failed after the last delivery says more about the receiver than that delivery. */
function isTestNewer({ last_test_at: test, last_delivery_at: delivery }: WebhookObject): boolean {
  return test !== null && (delivery === null || Date.parse(test) >= Date.parse(delivery));
}

/** Unknown until something was sent. */
export function healthOf(webhook: WebhookObject): WebhookHealth {
  if (webhook.paused) return 'paused';
  if (webhook.status === 'failing') return 'failing';
  if (webhook.last_test_error !== null && isTestNewer(webhook)) return 'testFailed';
  return webhook.last_delivery_at === null ? 'unused' : 'active';
}

export const DELIVERY_TONES: Record<DeliveryState, Tone> = {
  pending: 'info',
  delivering: 'info',
  retrying: 'retrying',
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
