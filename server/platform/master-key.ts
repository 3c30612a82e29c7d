// The master key: from the environment, or a file of its own in the data directory.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config.ts';
import { writeFileDurably } from './durable-file.ts';

const KEY_BYTES = 32;

function decode(text: string, source: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES || key.toString('base64') !== text.trim()) {
    throw new ConfigError(`${source} must be ${KEY_BYTES} bytes in base64`);
  }
  return key;
}

/**
 * Reads the key, or makes one. Called under the data directory's lock.
 * @param mayCreate false once anything is sealed: a new key would open none of it
 * @throws ConfigError if the key is unusable, or missing and not to be made
 */
export function loadMasterKey(dataDir: string, fromEnvironment: string | null, mayCreate: boolean): Buffer {
  if (fromEnvironment !== null) return decode(fromEnvironment, 'LICENSE_DESK_MASTER_KEY');
  const path = join(dataDir, 'master.key');
  try {
    return decode(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (!mayCreate) {
    throw new ConfigError(
      `${path} is missing, and the database holds keys sealed with it; restore it from a backup, or set LICENSE_DESK_MASTER_KEY`,
    );
  }
  const key = randomBytes(KEY_BYTES);
  writeFileDurably(path, `${key.toString('base64')}\n`);
  return key;
}
