// Runs sandboxed before the page and gives it the bridge, nothing else of Electron.
import { contextBridge, ipcRenderer } from 'electron';
import type { Bridge } from './bridge.ts';

const bridge = {
  appInfo: () => ipcRenderer.invoke('appInfo'),
  signIn: () => ipcRenderer.invoke('signIn'),
} satisfies Bridge;

contextBridge.exposeInMainWorld('licenseDesk', bridge);
