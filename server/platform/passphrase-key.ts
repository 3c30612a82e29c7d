// Derives a key from a passphrase with scrypt (RFC 7914).
import { scrypt } from 'node:crypto';

export interface ScryptParameters {
  /** CPU and memory cost, a power of two. */
  n: number;
  /** Block size: together with `n` the memory, 128 · n · r bytes. */
  r: number;
  /** Parallelization; multiplies the time. */
  p: number;
}

/** For new secrets: 128 MB and a third of a second per guess. */
export const SCRYPT_PARAMETERS: ScryptParameters = { n: 131_072, r: 8, p: 1 };

const KEY_BYTES = 32;
const BLOCK_BYTES = 128;
const SPARE_BYTES = 1024 * 1024;

/** Bytes of memory for one derivation. */
export function scryptMemory({ n, r, p }: ScryptParameters): number {
  return BLOCK_BYTES * r * (n + p);
}

/**
 * Normalizes the passphrase to NFC, because keyboards send different code points, and encodes it as UTF-8.
 * @returns 32 bytes
 */
export function derivePassphraseKey(
  passphrase: string,
  salt: Buffer,
  parameters: ScryptParameters,
): Promise<Buffer> {
  const { n: N, r, p } = parameters;
  const maxmem = scryptMemory(parameters) + SPARE_BYTES;
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, { N, r, p, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
