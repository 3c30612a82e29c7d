// Exports the master key, for a server without the app on the same data directory.
import { join } from 'node:path';
import { dialog } from 'electron';
import { MASTER_KEY_FILE } from '#server/platform/master-key.ts';
import type { KeyVault } from './key-vault.ts';
import { texts } from './texts.ts';

/** Asks first. Quits afterwards, because the app would seal the key again. */
export async function writeKeyFile(
  vault: Pick<KeyVault, 'writeKeyFile'>,
  dataDir: string,
  quit: () => void,
): Promise<void> {
  const { keyFileTitle, keyFileBody, keyFileWrite, cancel, keyFromEnvironment, cannotSave } = texts();
  const { response } = await dialog.showMessageBox({
    type: 'warning',
    message: keyFileTitle,
    detail: keyFileBody(join(dataDir, MASTER_KEY_FILE)),
    buttons: [keyFileWrite, cancel],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  });
  if (response !== 0) return;
  try {
    if ((await vault.writeKeyFile()) !== null) quit();
    else await dialog.showMessageBox({ type: 'info', message: keyFromEnvironment, noLink: true });
  } catch (error) {
    dialog.showErrorBox(cannotSave(MASTER_KEY_FILE), (error as Error).message);
  }
}
