// Signs deliveries: the header of the interface document ("Authentication", rule 7), and those of Standard Webhooks.
import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export interface SignatureOrder {
  /** As shown at registration, prefix included. */
  secret: string;
  /** The secret before it, while a rotation's overlap lasts. */
  previousSecret?: string;
  /** The same on every attempt. */
  deliveryId: number;
  /** `license.activated` and so on. */
  event: string;
  /** Names the event, the same for every receiver; without a full stop, as it is signed with one behind it. */
  messageId: string;
  /** Epoch seconds, whole, of this attempt. */
  timestampSeconds: number;
  /** Exactly what is sent. */
  body: string;
}

/** A shared secret as both kinds of signature take it: `whsec_` and 32 random bytes in standard base64. */
export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** `v1,` and base64 (https://www.standardwebhooks.com), keyed with the bytes that stand in base64 behind `whsec_`. */
function standardSignature(secret: string, signed: string): string {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return `v1,${createHmac('sha256', Buffer.from(encoded, 'base64')).update(signed, 'utf8').digest('base64')}`;
}

/**
 * The headers of one attempt but for content type and user agent. `X-License-Webhook-Signature` is keyed with the
 * UTF-8 bytes of the whole secret as shown (contract, section 6). While a rotation's overlap lasts
 * `webhook-signature` carries both, the new one first; the other header has room for the new one only.
 */
export function signatureHeaders(order: SignatureOrder): Record<string, string> {
  const { secret, previousSecret, messageId, timestampSeconds, body } = order;
  const signed = `${messageId}.${timestampSeconds}.${body}`;
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  return {
    'X-License-Webhook-Signature': `sha256=${createHmac('sha256', secret).update(body, 'utf8').digest('hex')}`,
    'X-License-Event': order.event,
    'X-License-Delivery': String(order.deliveryId),
    'webhook-id': messageId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets.map((each) => standardSignature(each, signed)).join(' '),
  };
}
