// Passes the master key to the server, from wherever this computer keeps it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app, dialog } from 'electron';
import { databaseLocation } from '#server/installation/database-location.ts';
import { KEPT_BY_APP_ENV, loadConfig, MASTER_KEY_ENV } from '#server/platform/config.ts';
import type { Failure } from './failure-screen.ts';
import { createKeyVault, DataGoneError, type KeyVault, type PassphrasePrompt } from './key-vault.ts';
import type { ServerFlags } from './server-arguments.ts';
import { texts } from './texts.ts';

interface Needs {
  dataDir: string;
  flags: ServerFlags;
  prompt: PassphrasePrompt;
}

export function setUpMasterKey({ dataDir, flags, prompt }: Needs): KeyVault {
  /** Unknown if the settings are invalid. The server then reports the error. */
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
    prompt,
    givenKey: process.env[MASTER_KEY_ENV],
    mayHoldData,
    choicePath: join(app.getPath('userData'), 'master-key.json'),
    // The server starts in the meantime.
    onExposedKey: () =>
      void dialog.showMessageBox({
        type: 'warning',
        message: texts().keyWasExposed,
        detail: texts().keyWasExposedDetail,
        buttons: [texts().ok],
        noLink: true,
      }),
  });
}

/** @param tell called if the key cannot be opened @returns null then */
export async function keyEnvironment(
  vault: KeyVault,
  tell: (failure: Failure) => void,
): Promise<Record<string, string> | null> {
  try {
    const key = await vault.open();
    return key === null ? {} : { [MASTER_KEY_ENV]: key, [KEPT_BY_APP_ENV]: 'yes' };
  } catch (error) {
    // A file system error concerns the directory, regardless of the operation.
    const isDirectory =
      error instanceof DataGoneError || (error as NodeJS.ErrnoException).syscall !== undefined;
    tell({
      cause: isDirectory ? 'data_directory' : 'key',
      reason: (error as Error).message,
      log: '',
      taken: null,
    });
    return null;
  }
}
