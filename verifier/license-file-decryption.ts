// Reads the payload of an encrypted license file; the only place that needs WebCrypto.
import { decodeBase64 } from './base64.ts';

const IV_LENGTH = 12;
const TAG_LENGTH = 16;

/** The secrets that decrypt a file, exactly as the server writes them. */
export interface LicenseFileSecret {
  readonly licenseKey: string;
  readonly fingerprint: string;
}

/** No key was given for an encrypted file, or WebCrypto is missing: the file could not be checked. */
export class CannotDecryptError extends Error {
  override readonly name = 'CannotDecryptError';
}

/**
 * Decrypts `ciphertext.iv.tag` with AES-256-GCM under SHA-256 of license key + fingerprint (contract section 3).
 *
 * @returns the payload's bytes; `wrong_key` if this license key or fingerprint is not the file's; null if `enc` is no
 *   such triple
 * @throws CannotDecryptError where there is no `crypto.subtle`, such as in a page served over plain http
 */
export async function decryptPayload(
  enc: string,
  { licenseKey, fingerprint }: LicenseFileSecret,
): Promise<Uint8Array | 'wrong_key' | null> {
  const [ciphertext, iv, tag, ...rest] = enc.split('.').map(decodeBase64);
  if (!ciphertext || iv?.length !== IV_LENGTH || tag?.length !== TAG_LENGTH || rest.length > 0) return null;

  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  if (!subtle)
    throw new CannotDecryptError('Encrypted license files need WebCrypto, which is not available here.');
  const secret = await subtle.digest('SHA-256', new TextEncoder().encode(licenseKey + fingerprint));
  const key = await subtle.importKey('raw', secret, 'AES-GCM', false, ['decrypt']);
  const sealed = new Uint8Array(ciphertext.length + TAG_LENGTH);
  sealed.set(ciphertext);
  sealed.set(tag, ciphertext.length);
  try {
    return new Uint8Array(
      await subtle.decrypt({ name: 'AES-GCM', iv, tagLength: TAG_LENGTH * 8 }, key, sealed),
    );
  } catch {
    return 'wrong_key';
  }
}
