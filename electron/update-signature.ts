// The signature that an update's manifest must have: detached Ed25519 over the bytes of `latest*.yml`, base64, in a file
// of the same name with `.sig`. scripts/sign-update.mjs writes it.
import { createPublicKey, verify } from 'node:crypto';

/** What precedes the 32 bytes of a key in its SPKI DER form (RFC 8410, section 4). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** An update that must not be installed; the message says why. */
export class UpdateRefusedError extends Error {
  override readonly name = 'UpdateRefusedError';
}

/**
 * @param signature the text of the `.sig` file
 * @param publicKey 32 bytes, base64
 * @throws UpdateRefusedError if the signature is missing or wrong
 */
export function checkManifestSignature(manifest: string, signature: string | null, publicKey: string): void {
  if (!signature) throw new UpdateRefusedError('The update manifest is not signed.');
  const spki = Buffer.concat([SPKI_PREFIX, Buffer.from(publicKey, 'base64')]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const bytes = Buffer.from(signature.trim(), 'base64');
  if (!verify(null, Buffer.from(manifest, 'utf8'), key, bytes))
    throw new UpdateRefusedError('The signature of the update manifest is wrong.');
}
