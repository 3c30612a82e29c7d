/** The rest of the system, once the app is ready. */
import { app, clipboard, ipcMain, nativeImage, protocol, safeStorage } from 'electron';
import { attempt } from './attempt.mjs';

/** Asking macOS for a keychain opens a dialog. */
const canEncrypt = process.platform !== 'darwin';

async function observeEncryption() {
  const encrypted = await safeStorage.encryptStringAsync('text');
  const { result } = await safeStorage.decryptStringAsync(encrypted);
  return {
    isAvailable: await safeStorage.isAsyncEncryptionAvailable(),
    hasMark: /^v1[01]$/u.test(encrypted.subarray(0, 3).toString()),
    isEveryTimeDifferent: !encrypted.equals(await safeStorage.encryptStringAsync('text')),
    comesBack: result === 'text',
    garbage: await attempt(() => safeStorage.decryptStringAsync(Buffer.from('garbage'))),
  };
}

export async function observeSystem() {
  ipcMain.handle('twice', () => {});
  return {
    isReady: app.isReady(),
    isPackaged: app.isPackaged,
    hasDock: app.dock !== undefined,
    registerScheme: await attempt(() => protocol.registerSchemesAsPrivileged([])),
    secondHandler: await attempt(() => ipcMain.handle('twice', () => {})),
    clipboardIsPromise: clipboard.writeText('text') instanceof Promise,
    missingImageIsEmpty: nativeImage.createFromPath('nowhere.png').isEmpty(),
    encryption: canEncrypt ? await observeEncryption() : null,
  };
}
