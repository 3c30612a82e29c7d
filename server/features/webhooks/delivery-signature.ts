// Signs deliveries: the header of the interface document ("Authentication", rule 7), and those of Standard Webhooks.
import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export interface SignatureOrder {
  /** As shown at registration, including the prefix. */
  secret: string;
  /** The previous secret during the overlap after a rotation. */
  previousSecret?: string;
  /** The same on every attempt. */
  deliveryId: number;
  /** `license.activated` and so on. */
  event: string;
  /**
   * Identifies the event, equal for all receivers. Must not contain a dot, which separates it from the timestamp in the
   * signed text.
   */
  messageId: string;
  /** Start of this attempt in epoch seconds. */
  timestampSeconds: number;
  /** Exactly as sent. */
  body: string;
}

/** A shared secret for both kinds of signature: `whsec_` and 32 random bytes in standard base64. */
export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** `v1,` and base64 (https://www.standardwebhooks.com). The key is the decoded base64 after `whsec_`. */
function standardSignature(secret: string, signed: string): string {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return `v1,${createHmac('sha256', Buffer.from(encoded, 'base64')).update(signed, 'utf8').digest('base64')}`;
}

/**
 * The headers of one attempt except content type and user agent. The key of `X-License-Webhook-Signature` is the whole
 * secret as
 * shown, in UTF-8 (contract, section 6). During the overlap after a rotation, `webhook-signature` has both signatures,
 * the new
 * one first. The other header has room only for the new one.
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
