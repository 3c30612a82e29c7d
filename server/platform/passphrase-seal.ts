// A secret under a passphrase: scrypt makes a key of it (RFC 7914), which seals as the master key does.
import { randomBytes, scrypt } from 'node:crypto';
import { z } from 'zod';
import { createSealer } from './sealer.ts';

const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** 128 MB and a third of a second for each guess. */
const COST = { n: 131_072, r: 8, p: 1 } as const;
const MAX_MEMORY = 256 * 1024 * 1024;

const sealedSecret = z.object({
  kdf: z.literal('scrypt'),
  n: z.literal(COST.n),
  r: z.literal(COST.r),
  p: z.literal(COST.p),
  salt: z.base64(),
  sealed: z.string(),
});

function derive(passphrase: string, salt: Buffer): Promise<Buffer> {
  const { n: N, r, p } = COST;
  // What is typed on another keyboard may come as other code points.
  const text = passphrase.normalize('NFC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, KEY_BYTES, { N, r, p, maxmem: MAX_MEMORY }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** What was sealed cannot be opened. */
export class PassphraseError extends Error {
  override readonly name = 'PassphraseError';
  readonly reason: 'wrong_passphrase' | 'unknown_form';

  constructor(reason: PassphraseError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * @param purpose what the secret is for; opens only under the same
 * @returns JSON
 */
export async function sealUnderPassphrase(
  purpose: string,
  secret: Buffer,
  passphrase: string,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const sealed = createSealer(await derive(passphrase, salt)).seal(purpose, secret);
  const content: z.infer<typeof sealedSecret> = {
    kdf: 'scrypt',
    ...COST,
    salt: salt.toString('base64'),
    sealed,
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** @param content what `sealUnderPassphrase` gave @throws PassphraseError */
export async function openUnderPassphrase(
  purpose: string,
  content: string,
  passphrase: string,
): Promise<Buffer> {
  const { salt, sealed } = readSealed(content);
  const sealer = createSealer(await derive(passphrase, Buffer.from(salt, 'base64')));
  try {
    return sealer.open(purpose, sealed);
  } catch {
    throw new PassphraseError('wrong_passphrase', 'the passphrase is another one');
  }
}

function readSealed(content: string): z.infer<typeof sealedSecret> {
  try {
    return sealedSecret.parse(JSON.parse(content));
  } catch {
    throw new PassphraseError('unknown_form', 'this version does not know the form of what is sealed');
  }
}
