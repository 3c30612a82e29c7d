// The frame that certificates and revocation lists share: content, algorithm, signature (RFC 5280, 4.1.1 and 5.1.1).
import { type KeyObject, sign } from 'node:crypto';
import { TAG, tlv } from './der.ts';

/** AlgorithmIdentifier of sha256WithRSAEncryption with its NULL (RFC 4055, section 5). */
export const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex');

/**
 * @param content DER that names `SHA256_WITH_RSA` as its algorithm
 * @param privateKey of the issuer, RSA
 * @returns DER
 * @throws TypeError if the key is not RSA
 */
export function signStructure(content: Buffer, privateKey: KeyObject): Buffer {
  if (privateKey.asymmetricKeyType !== 'rsa')
    throw new TypeError('the key of a certificate authority is RSA');
  // RSA signatures fill all bits of their octets: no unused ones.
  const signature = tlv(TAG.bitString, Buffer.alloc(1), sign('sha256', content, privateKey));
  return tlv(TAG.sequence, content, SHA256_WITH_RSA, signature);
}

/** PEM with lines of 64 characters (RFC 7468, section 2), a line feed at the end. */
export function toPem(label: 'CERTIFICATE' | 'X509 CRL', der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/gu) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
