// Chooses the master key for a restored database: from the environment, the backup or the data directory.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, MASTER_KEY_ENV } from '#server/platform/config.ts';
import { loadMasterKey, MASTER_KEY_FILE, readMasterKeyFile } from '#server/platform/master-key.ts';
import { openUnderPassphrase, PassphraseError } from '#server/platform/passphrase-seal.ts';
import { BackupError, MASTER_KEY_PURPOSE, SEALED_MASTER_KEY } from './backup-format.ts';

export interface ChosenKey {
  key: Buffer;
  /** Where the key comes from, for the error message if it is wrong. */
  from: string;
  isFromBackup: boolean;
}

/** @throws BackupError */
async function openSealedKey(content: string, passphrase: string): Promise<Buffer> {
  try {
    return await openUnderPassphrase(MASTER_KEY_PURPOSE, content, passphrase);
  } catch (error) {
    if (!(error instanceof PassphraseError)) throw error;
    throw new BackupError(
      error.reason === 'wrong_passphrase'
        ? 'wrong passphrase: it does not open the master key in the backup'
        : 'the master key in the backup is sealed in a format that this version cannot read',
    );
  }
}

/** @returns null if the backup has no key, or a sealed one and no passphrase was given @throws BackupError */
async function keyInBackup(staging: string, passphrase: string | null): Promise<Buffer | null> {
  const plain = readMasterKeyFile(staging);
  if (plain) return plain;
  const sealed = join(staging, SEALED_MASTER_KEY);
  if (existsSync(sealed))
    return passphrase === null ? null : openSealedKey(readFileSync(sealed, 'utf8'), passphrase);
  if (passphrase === null) return null;
  throw new BackupError('the backup is not encrypted and does not contain a master key; omit the passphrase');
}

/**
 * @param staging the folder with the unpacked backup
 * @param given an administrator's key takes precedence, as at the next start. The desktop app takes over the backup's
 * @throws BackupError or ConfigError
 */
export async function chooseMasterKey(
  dataDir: string,
  staging: string,
  given: Pick<Config, 'masterKey' | 'isKeyKeptByApp'>,
  passphrase: string | null,
): Promise<ChosenKey> {
  const inBackup = await keyInBackup(staging, passphrase);
  if (given.masterKey !== null) {
    const key = loadMasterKey(dataDir, given.masterKey, false);
    const from = given.isKeyKeptByApp ? 'the desktop app' : MASTER_KEY_ENV;
    const isKept = !given.isKeyKeptByApp || inBackup === null || inBackup.equals(key);
    if (isKept) return { key, from, isFromBackup: false };
  }
  if (inBackup) return { key: inBackup, from: 'the backup', isFromBackup: true };
  const path = join(dataDir, MASTER_KEY_FILE);
  if (existsSync(path)) return { key: loadMasterKey(dataDir, null, false), from: path, isFromBackup: false };
  const remedy = existsSync(join(staging, SEALED_MASTER_KEY))
    ? 'enter the passphrase of the backup'
    : `copy your separately stored master.key into ${dataDir}, or set ${MASTER_KEY_ENV}`;
  throw new BackupError(`the master key of the backup is missing: ${remedy}`);
}
