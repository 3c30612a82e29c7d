// Signs deliveries: the header of the interface document ("Authentication", rule 7), and those of Standard Webhooks.
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** The keys of a secret. Keep them: an HMAC by a key that is not a `KeyObject` costs several times as much. */
export interface SigningKeys {
  /** For `X-License-Webhook-Signature`: the whole secret. */
  whole: KeyObject;
  /** For `webhook-signature`: the decoded base64 after `whsec_`. */
  decoded: KeyObject;
}

export interface SignatureOrder {
  keys: SigningKeys;
  /** Those of replaced secrets during the overlap after a rotation, newest first. */
  previousKeys: readonly SigningKeys[];
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

/** @param secret as shown at registration, including the prefix */
export function signingKeysOf(secret: string): SigningKeys {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return { whole: createSecretKey(secret, 'utf8'), decoded: createSecretKey(encoded, 'base64') };
}

/** `v1,` and base64 (https://www.standardwebhooks.com). */
function standardSignature({ decoded }: SigningKeys, signed: string): string {
  return `v1,${createHmac('sha256', decoded).update(signed, 'utf8').digest('base64')}`;
}

/**
 * The headers of one attempt except content type and user agent. The key of `X-License-Webhook-Signature` is the whole
 * secret as shown, in UTF-8 (contract, section 6). During the overlap after a rotation, `webhook-signature` also has the
 * signatures of replaced secrets, after the new one. The other header has room only for the new one.
 */
export function signatureHeaders(order: SignatureOrder): Record<string, string> {
  const { keys, previousKeys, messageId, timestampSeconds, body } = order;
  const signed = `${messageId}.${timestampSeconds}.${body}`;
  return {
    'X-License-Webhook-Signature': `sha256=${createHmac('sha256', keys.whole).update(body, 'utf8').digest('hex')}`,
    'X-License-Event': order.event,
    'X-License-Delivery': String(order.deliveryId),
    'webhook-id': messageId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': [keys, ...previousKeys].map((each) => standardSignature(each, signed)).join(' '),
  };
}
