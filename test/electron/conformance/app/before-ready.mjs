/** What can be called while the main module is evaluated. */
import {
  app,
  BrowserWindow,
  dialog,
  Menu,
  Notification,
  protocol,
  safeStorage,
  screen,
  session,
  Tray,
  utilityProcess,
} from 'electron';
import { attempt } from './attempt.mjs';

export async function observeBeforeReady() {
  const menuItem = /** @type {Electron.MenuItemConstructorOptions} */ ({});
  const nowhere = /** @type {Parameters<typeof app.getPath>[0]} */ ('nowhere');
  return {
    isReady: app.isReady(),
    locale: app.getLocale(),
    encryptionIsAvailable: await safeStorage.isAsyncEncryptionAvailable(),
    registerScheme: await attempt(() =>
      protocol.registerSchemesAsPrivileged([{ scheme: 'early', privileges: { standard: true } }]),
    ),
    browserWindow: await attempt(() => new BrowserWindow()),
    tray: await attempt(() => new Tray('nowhere.png')),
    notification: await attempt(() => new Notification()),
    session: await attempt(() => session.defaultSession),
    screen: await attempt(() => screen.getAllDisplays()),
    fork: await attempt(() => utilityProcess.fork('nowhere.mjs')),
    dialog: await attempt(() => dialog.showMessageBox({ message: '' })),
    encrypt: await attempt(() => safeStorage.encryptStringAsync('text')),
    unknownPath: await attempt(() => app.getPath(nowhere)),
    emptyMenuItem: await attempt(() => Menu.buildFromTemplate([menuItem])),
  };
}
