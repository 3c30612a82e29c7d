// Keys, made natively in a thread of their own pool.
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

export interface KeyPair {
  publicKey: KeyObject;
  /** PKCS#8. */
  privateKeyDer: Buffer;
}

const generate = promisify(generateKeyPair);
let last: Promise<unknown> = Promise.resolve();

/**
 * One at a time: a key takes 40 to 500 ms of a thread of the pool that the database works in too, and several at once
 * would leave it none.
 */
export function generateRsaKey(bits: number): Promise<KeyPair> {
  const mine = last.then(async () => {
    const { publicKey, privateKey } = await generate('rsa', { modulusLength: bits });
    return { publicKey, privateKeyDer: privateKey.export({ format: 'der', type: 'pkcs8' }) };
  });
  last = mine.catch(() => {});
  return mine;
}

/** On P-256: made in no time, and for each connection a tenth of the work of an RSA key. */
export async function generateEcKey(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('ec', { namedCurve: 'P-256' });
  return { publicKey, privateKeyDer: privateKey.export({ format: 'der', type: 'pkcs8' }) };
}
