// Seals a secret under a passphrase: scrypt derives a key, which is then used like the master key.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { areAcceptable, derivePassphraseKey, SCRYPT_PARAMETERS } from './passphrase-key.ts';
import { createSealer } from './sealer.ts';

const SALT_BYTES = 16;

const sealedSecret = z
  .object({
    kdf: z.literal('scrypt'),
    n: z.number(),
    r: z.number(),
    p: z.number(),
    salt: z.base64(),
    sealed: z.string(),
  })
  .refine(areAcceptable);

/** The sealed secret cannot be opened. */
export class PassphraseError extends Error {
  override readonly name = 'PassphraseError';
  readonly reason: 'wrong_passphrase' | 'unknown_form';

  constructor(reason: PassphraseError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * @param purpose what the secret is for; it can only be opened for the same purpose
 * @returns JSON
 */
export async function sealUnderPassphrase(
  purpose: string,
  secret: Buffer,
  passphrase: string,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derivePassphraseKey(passphrase, salt, SCRYPT_PARAMETERS);
  const content = {
    kdf: 'scrypt',
    ...SCRYPT_PARAMETERS,
    salt: salt.toString('base64'),
    sealed: createSealer(key).seal(purpose, secret),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** @param content the result of `sealUnderPassphrase` @throws PassphraseError */
export async function openUnderPassphrase(
  purpose: string,
  content: string,
  passphrase: string,
): Promise<Buffer> {
  const { salt, sealed, ...parameters } = readSealed(content);
  const key = await derivePassphraseKey(passphrase, Buffer.from(salt, 'base64'), parameters);
  try {
    return createSealer(key).open(purpose, sealed);
  } catch {
    throw new PassphraseError('wrong_passphrase', 'wrong passphrase');
  }
}

function readSealed(content: string): z.infer<typeof sealedSecret> {
  try {
    return sealedSecret.parse(JSON.parse(content));
  } catch {
    throw new PassphraseError('unknown_form', 'unknown format of a sealed secret');
  }
}
