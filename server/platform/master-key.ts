// The master key: from the environment, or from a separate file in the data directory.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, MASTER_KEY_ENV } from './config.ts';
import { writeFileDurably } from './durable-file.ts';

const KEY_BYTES = 32;

/** In the data directory, readable by its owner only. */
export const MASTER_KEY_FILE = 'master.key';
/** Replaces it where the desktop app keeps the key, sealed by the system's keychain or a passphrase. */
export const SEALED_KEY_FILE = 'master-key.sealed';

/** @param source where the text is from, for the error message @throws ConfigError */
export function decodeMasterKey(text: string, source: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES || key.toString('base64') !== text.trim()) {
    throw new ConfigError(`${source} must be ${KEY_BYTES} bytes in base64`);
  }
  return key;
}

export const newMasterKey = (): Buffer => randomBytes(KEY_BYTES);

/** @returns null if the file is missing @throws ConfigError if it does not contain a key */
export function readMasterKeyFile(dataDir: string): Buffer | null {
  const path = join(dataDir, MASTER_KEY_FILE);
  try {
    return decodeMasterKey(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export function writeMasterKeyFile(dataDir: string, key: Buffer): void {
  writeFileDurably(join(dataDir, MASTER_KEY_FILE), `${key.toString('base64')}\n`);
}

/**
 * Reads the key, or creates one. Requires the data directory lock.
 * @param mayCreate false once anything is sealed: a new key could not open it
 * @throws ConfigError if the key is unusable, or missing and must not be created
 */
export function loadMasterKey(dataDir: string, fromEnvironment: string | null, mayCreate: boolean): Buffer {
  if (fromEnvironment !== null) return decodeMasterKey(fromEnvironment, MASTER_KEY_ENV);
  const kept = readMasterKeyFile(dataDir);
  if (kept) return kept;
  const path = join(dataDir, MASTER_KEY_FILE);
  if (existsSync(join(dataDir, SEALED_KEY_FILE))) {
    throw new ConfigError(
      `${path} is missing because the desktop app keeps the key sealed. In the app, choose Server, Export Master Key File, or set ${MASTER_KEY_ENV}`,
    );
  }
  if (!mayCreate) {
    throw new ConfigError(
      `${path} is missing, and the database contains keys sealed with it; restore it from a backup, or set ${MASTER_KEY_ENV}`,
    );
  }
  const key = newMasterKey();
  writeMasterKeyFile(dataDir, key);
  return key;
}
