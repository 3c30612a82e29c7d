// Gives the shell's own window what it shows and a way to answer, nothing else of Electron.
import { contextBridge, ipcRenderer } from 'electron';
import type { ShellPageBridge } from './shell-bridge.ts';

const bridge = {
  shellView: () => ipcRenderer.invoke('shellView'),
  shellAnswer: (answer) => ipcRenderer.invoke('shellAnswer', answer),
  onChange: (listener) => void ipcRenderer.on('shellChange', () => listener()),
} satisfies ShellPageBridge;

contextBridge.exposeInMainWorld('shell', bridge);
