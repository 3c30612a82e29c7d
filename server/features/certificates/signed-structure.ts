// The outer structure of certificates and CRLs: content, algorithm, signature (RFC 5280, 4.1.1 and 5.1.1).
import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { TAG, tlv } from './der.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** AlgorithmIdentifiers of sha256WithRSAEncryption with its NULL (RFC 4055, 5) and ecdsa-with-SHA256 (RFC 5758, 3.2). */
const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex');
const ECDSA_WITH_SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex');
/** Node's name for P-256. */
const P256 = 'prime256v1';

/**
 * @returns the AlgorithmIdentifier of signatures with this key, for the signed content
 * @throws TypeError if the key is neither RSA nor on P-256
 */
export function signatureAlgorithm({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Buffer {
  if (asymmetricKeyType === 'rsa') return SHA256_WITH_RSA;
  if (asymmetricKeyDetails?.namedCurve === P256) return ECDSA_WITH_SHA256;
  throw new TypeError('the key of a certificate authority must be RSA or on P-256');
}

/**
 * @param content DER that names the key's `signatureAlgorithm`
 * @param privateKey the issuer's key
 * @returns DER
 * @throws TypeError if the key is neither RSA nor on P-256
 */
export function signStructure(content: Buffer, privateKey: KeyObject): Buffer {
  return frame(content, privateKey, sign('sha256', content, privateKey));
}

const signAsync = promisify(sign);
/** No limit: a signature takes two milliseconds, and the number of open requests limits the queue. */
const inTurn = oneAtATime(Number.POSITIVE_INFINITY);
const RSA_SIGNATURE_MS = 2;

/** The same, but with RSA in a thread of the pool. On P-256, a signature takes less time than the way to a thread. */
export async function signStructureAsync(content: Buffer, privateKey: KeyObject): Promise<Buffer> {
  if (privateKey.asymmetricKeyType !== 'rsa') return signStructure(content, privateKey);
  const signature = await inTurn({ estimateMs: RSA_SIGNATURE_MS }, () =>
    signAsync('sha256', content, privateKey),
  );
  return frame(content, privateKey, signature);
}

function frame(content: Buffer, privateKey: KeyObject, signature: Buffer): Buffer {
  // Signatures are whole octets: the bit string has no unused bits.
  const bits = tlv(TAG.bitString, Buffer.alloc(1), signature);
  return tlv(TAG.sequence, content, signatureAlgorithm(privateKey), bits);
}
