import nacl from 'tweetnacl';

/** The order of the Ed25519 group (RFC 8032 section 5.1): 2^252 + 27742317777372353535851937790883648493. */
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Whether `signature` (64 bytes) over `message` was made with the private half of `publicKey` (32 bytes). */
export type SignatureCheck = (message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array) => boolean;

/**
 * Ed25519 verification (RFC 8032 section 5.1.7) in plain JavaScript, about 10 ms. tweetnacl leaves out the RFC's range
 * check of the signature's second half, so a stranger could respell a valid signature; OpenSSL and node:crypto
 * refuse such a twin, and so does this.
 */
export const verifyEd25519: SignatureCheck = (message, signature, publicKey) => {
  if (signature.length !== nacl.sign.signatureLength) return false;
  if (littleEndian(signature.subarray(32)) >= GROUP_ORDER) return false;
  return nacl.sign.detached.verify(message, signature, publicKey);
};

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
