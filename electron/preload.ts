// Runs sandboxed before the page and gives it the bridge, nothing else of Electron.
import { contextBridge, ipcRenderer } from 'electron';
import type { Bridge } from './bridge.ts';

const bridge = {
  appInfo: () => ipcRenderer.invoke('appInfo'),
  signIn: () => ipcRenderer.invoke('signIn'),
  takeOpenedFile: () => ipcRenderer.invoke('takeOpenedFile'),
  savePdf: (suggestedName) => ipcRenderer.invoke('savePdf', suggestedName),
  saveText: (file) => ipcRenderer.invoke('saveText', file),
  readPreferences: () => ipcRenderer.invoke('readPreferences'),
  changePreferences: (change) => ipcRenderer.invoke('changePreferences', change),
  onFileOpened(listener) {
    const tell = () => listener();
    ipcRenderer.on('fileOpened', tell);
    return () => void ipcRenderer.off('fileOpened', tell);
  },
} satisfies Bridge;

contextBridge.exposeInMainWorld('licenseDesk', bridge);
