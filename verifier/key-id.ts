import nacl from 'tweetnacl';

/**
 * The name of a signing key, `kid` in a license file and `key_id` in the API: the first 16 hex digits of SHA-512
 * over the 32 raw bytes of the public key. SHA-512 because Ed25519 needs it anyway, so no WebCrypto is called for.
 */
export function keyId(publicKey: Uint8Array): string {
  return Array.from(nacl.hash(publicKey).subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
