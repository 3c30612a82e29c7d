// Keys, made natively in a thread of their own pool.
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { oneAtATime } from './one-at-a-time.ts';

export interface KeyPair {
  publicKey: KeyObject;
  /** PKCS#8. */
  privateKeyDer: Buffer;
}

const generate = promisify(generateKeyPair);
const inTurn = oneAtATime();

/** A key takes 40 to 500 ms. */
export function generateRsaKey(bits: number): Promise<KeyPair> {
  return inTurn(async () => {
    const { publicKey, privateKey } = await generate('rsa', { modulusLength: bits });
    return { publicKey, privateKeyDer: privateKey.export({ format: 'der', type: 'pkcs8' }) };
  });
}

/** On P-256: made in no time, and for each connection a tenth of the work of an RSA key. */
export async function generateEcKey(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('ec', { namedCurve: 'P-256' });
  return { publicKey, privateKeyDer: privateKey.export({ format: 'der', type: 'pkcs8' }) };
}
