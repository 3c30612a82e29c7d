// Creates key pairs in the thread pool.
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { Caller } from '#server/platform/call.ts';
import { oneAtATime } from './one-at-a-time.ts';

export interface KeyPair {
  publicKey: KeyObject;
  /** PKCS#8. */
  privateKeyDer: Buffer;
}

const generate = promisify(generateKeyPair);
/** About 130 keys of 2048 bits, or 8 of 4096 bits. */
const MAX_WAIT_MS = 6000;
/** For 2048 bits. The time grows with the fourth power of the key length. */
const KEY_2048_MS = 45;

const inTurn = oneAtATime(MAX_WAIT_MS);

/** @throws ApiError `overloaded` if `caller` would wait too long; without a caller, there is no limit */
export function generateRsaKey(bits: number, caller?: Caller): Promise<KeyPair> {
  const estimateMs = KEY_2048_MS * (bits / 2048) ** 4;
  return inTurn({ estimateMs, caller }, async () => {
    const { publicKey, privateKey } = await generate('rsa', { modulusLength: bits });
    return { publicKey, privateKeyDer: privateKey.export({ format: 'der', type: 'pkcs8' }) };
  });
}

/** A P-256 key: created instantly, and a tenth of an RSA key's work per connection. */
export async function generateEcKey(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('ec', { namedCurve: 'P-256' });
  return { publicKey, privateKeyDer: privateKey.export({ format: 'der', type: 'pkcs8' }) };
}
