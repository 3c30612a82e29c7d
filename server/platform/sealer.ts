// Seals secrets at rest: AES-256-GCM under keys derived from the master key, one per purpose.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { OperatorError } from './operator-error.ts';

const VERSION = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface Sealer {
  /** @param purpose what the secret is for, such as `signing-key`; it can only be opened for the same purpose */
  seal(purpose: string, secret: Buffer): string;
  /** @throws SealError if the text was altered, or sealed with another master key or for another purpose */
  open(purpose: string, sealed: string): Buffer;
}

export class SealError extends OperatorError {
  override readonly name = 'SealError';
  override readonly code = 'unavailable';
}

/** @param masterKey 32 bytes */
export function createSealer(masterKey: Buffer): Sealer {
  const keys = new Map<string, Buffer>();
  const keyFor = (purpose: string): Buffer => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = createHmac('sha256', masterKey).update(`license-desk/seal/${VERSION}/${purpose}`).digest();
    keys.set(purpose, key);
    return key;
  };
  return {
    seal(purpose, secret) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), iv);
      const sealed = Buffer.concat([iv, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${sealed.toString('base64')}`;
    },
    open(purpose, text) {
      const [version, encoded] = text.split('.');
      const sealed = Buffer.from(encoded ?? '', 'base64');
      try {
        if (version !== VERSION) throw new Error('unknown version');
        const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), sealed.subarray(0, IV_BYTES));
        decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch {
        throw new SealError(
          `cannot open a sealed ${purpose}: it was altered or sealed with a different master key`,
        );
      }
    },
  };
}
