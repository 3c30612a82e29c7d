// What the server is given on its way: the master key, from wherever this computer keeps it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';
import { databaseLocation } from '../server/database-location.ts';
import { loadConfig, MASTER_KEY_ENV } from '../server/platform/config.ts';
import type { Failure } from './failure-screen.ts';
import { createKeyVault, type KeyVault, type PassphraseDesk } from './key-vault.ts';
import type { ServerFlags } from './server-arguments.ts';

interface Needs {
  dataDir: string;
  flags: ServerFlags;
  desk: PassphraseDesk;
}

export function setUpMasterKey({ dataDir, flags, desk }: Needs): KeyVault {
  /** With settings that cannot be read nothing is known; the server will say what is wrong with them. */
  function mayHoldData(): boolean {
    try {
      const { url, file } = databaseLocation(loadConfig({ flags, env: process.env }));
      return url !== null || existsSync(file);
    } catch {
      return true;
    }
  }

  return createKeyVault({
    dataDir,
    desk,
    givenKey: process.env[MASTER_KEY_ENV],
    mayHoldData,
    choicePath: join(app.getPath('userData'), 'master-key.json'),
  });
}

/** @param tell called if the key cannot be had @returns null then */
export async function keyEnvironment(
  vault: KeyVault,
  tell: (failure: Failure) => void,
): Promise<Record<string, string> | null> {
  try {
    const key = await vault.open();
    return key === null ? {} : { [MASTER_KEY_ENV]: key };
  } catch (error) {
    // What the file system refuses is about the directory, whatever is read or written there.
    const isFileSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
    tell({
      cause: isFileSystem ? 'data_directory' : 'key',
      reason: (error as Error).message,
      log: '',
    });
    return null;
  }
}
