// The outer structure of certificates and CRLs: content, algorithm, signature (RFC 5280, 4.1.1 and 5.1.1).
import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { TAG, tlv } from './der.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** AlgorithmIdentifier of sha256WithRSAEncryption with its NULL (RFC 4055, section 5). */
export const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex');

/**
 * @param content DER that names `SHA256_WITH_RSA` as its algorithm
 * @param privateKey the issuer's RSA key
 * @returns DER
 * @throws TypeError if the key is not RSA
 */
export function signStructure(content: Buffer, privateKey: KeyObject): Buffer {
  return frame(content, sign('sha256', content, asRsa(privateKey)));
}

const signAside = promisify(sign);
/** No limit: a signature takes a millisecond, and the number of open requests limits the queue. */
const inTurn = oneAtATime(Number.POSITIVE_INFINITY);
const SIGNATURE_MS = 1;

/** The same in a thread of the pool, because a signature takes a millisecond. */
export async function signStructureAside(content: Buffer, privateKey: KeyObject): Promise<Buffer> {
  return frame(
    content,
    await inTurn({ estimateMs: SIGNATURE_MS }, () => signAside('sha256', content, asRsa(privateKey))),
  );
}

function asRsa(privateKey: KeyObject): KeyObject {
  if (privateKey.asymmetricKeyType === 'rsa') return privateKey;
  throw new TypeError('the key of a certificate authority must be RSA');
}

function frame(content: Buffer, signature: Buffer): Buffer {
  // RSA signatures have no unused bits.
  const bits = tlv(TAG.bitString, Buffer.alloc(1), signature);
  return tlv(TAG.sequence, content, SHA256_WITH_RSA, bits);
}
