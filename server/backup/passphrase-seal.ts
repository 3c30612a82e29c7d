// The master key under a passphrase: scrypt makes a key of it (RFC 7914), which seals as the master key itself does.
import { randomBytes, scrypt } from 'node:crypto';
import { z } from 'zod';
import { createSealer } from '../platform/sealer.ts';
import { BackupError } from './backup-format.ts';

const PURPOSE = 'backup-master-key';
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** 128 MB and a third of a second for each guess. */
const COST = { n: 131_072, r: 8, p: 1 } as const;
const MAX_MEMORY = 256 * 1024 * 1024;

const sealedKey = z.object({
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

/** @returns JSON */
export async function sealUnderPassphrase(masterKey: Buffer, passphrase: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const sealed = createSealer(await derive(passphrase, salt)).seal(PURPOSE, masterKey);
  const content: z.infer<typeof sealedKey> = {
    kdf: 'scrypt',
    ...COST,
    salt: salt.toString('base64'),
    sealed,
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** @param content what `sealUnderPassphrase` gave @throws BackupError */
export async function openUnderPassphrase(content: string, passphrase: string): Promise<Buffer> {
  const { salt, sealed } = readSealedKey(content);
  const sealer = createSealer(await derive(passphrase, Buffer.from(salt, 'base64')));
  try {
    return sealer.open(PURPOSE, sealed);
  } catch {
    throw new BackupError('the passphrase is not the one that the backup was made with');
  }
}

function readSealedKey(content: string): z.infer<typeof sealedKey> {
  try {
    return sealedKey.parse(JSON.parse(content));
  } catch {
    throw new BackupError('the master key in the backup is in a form that this version does not know');
  }
}
