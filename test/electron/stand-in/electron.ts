// The module `electron` as a main process imports it, as far as the shell and its packages use it.
export { app } from './app.ts';
export { BrowserWindow } from './browser-window.ts';
export { clipboard, nativeTheme, powerMonitor, powerSaveBlocker, screen, shell } from './desktop.ts';
export { dialog } from './dialogs.ts';
export { ipcMain } from './ipc.ts';
export { Menu, nativeImage, Tray } from './menus.ts';
export { Notification } from './notifications.ts';
export { protocol } from './protocol.ts';
export { safeStorage } from './safe-storage.ts';
export { session } from './session.ts';
export { nativeUpdater as autoUpdater } from './updater.ts';
export { utilityProcess } from './utility-process.ts';
