/** The preload script, its bridge, and calls from the page to the main process. */
import { join } from 'node:path';
import { BrowserWindow, ipcMain } from 'electron';
import { once } from './attempt.mjs';

/** Runs in the page. */
const LOOK = `(async () => {
  const bridge = globalThis.conformance;
  const message = async (call) => {
    try {
      return 'returns ' + JSON.stringify(await call());
    } catch (error) {
      return 'throws: ' + error.message + (error.code ? ', with its code' : '');
    }
  };
  return {
    required: bridge.required,
    globals: bridge.globals,
    isFrozen: Object.isFrozen(bridge),
    list: await message(() => bridge.list),
    point: Object.keys(bridge.point).join() + (typeof bridge.point.double),
    add: await message(() => bridge.add(1, 2)),
    later: await message(() => bridge.later()),
    fail: await message(() => bridge.fail()),
    callBack: await message(() => bridge.callBack((value) => value * 2)),
    echo: await message(() => bridge.invoke('echo', { a: [1], b: null })),
    map: await message(() => bridge.invoke('map')),
    function: await message(() => bridge.invoke('function')),
    refusal: await message(() => bridge.invoke('refusal')),
    nobody: await message(() => bridge.invoke('nobody')),
  };
})()`;

export async function observeIpc() {
  ipcMain.handle('echo', (_event, value) => value);
  ipcMain.handle('map', () => ({ size: structuredClone(new Map([[1, 2]])).size }));
  ipcMain.handle('function', () => () => {});
  ipcMain.handle('refusal', () => {
    throw new TypeError('refused');
  });
  const window = new BrowserWindow({
    show: false,
    webPreferences: { sandbox: true, preload: join(import.meta.dirname, 'preload.cjs') },
  });
  await window.loadURL('data:text/html,ipc');
  const seen = await window.webContents.executeJavaScript(LOOK);
  const closed = once(window, 'closed');
  window.close();
  await closed;
  return seen;
}
