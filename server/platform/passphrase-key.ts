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

/** What a file may demand when it is read. */
const MOST_BYTES = 1024 * 1024 * 1024;
const MOST_LOG_N = 24;
const MOST_P = 4;

/** Bytes of memory for one derivation. */
function memoryFor({ n, r, p }: ScryptParameters): number {
  return BLOCK_BYTES * r * (n + p);
}

/** Whether a key may be derived with what a file says: scrypt knows the parameters, and they need at most 1 GiB of memory. */
export function areAcceptable(parameters: ScryptParameters): boolean {
  const { n, r, p } = parameters;
  const logN = Math.log2(n);
  const areValid =
    Number.isInteger(logN) && logN >= 1 && [r, p].every((each) => Number.isInteger(each) && each >= 1);
  return areValid && logN <= MOST_LOG_N && p <= MOST_P && memoryFor(parameters) <= MOST_BYTES;
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
  const maxmem = memoryFor(parameters) + SPARE_BYTES;
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, { N, r, p, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
