// Runs an app's main module as Electron runs it: `node run.ts out/main/main.js …`. Whoever imports Electron gets the
// stand-in, and the app is ready once its main module has been evaluated.
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  browserEndpoint,
  isPackaged,
  keptTimer,
  longestTimer,
  offeredVersion,
  platform,
} from './environment.ts';
import { report } from './happenings.ts';

const STAND_INS = new Map([['electron', import.meta.resolve('./electron.ts')]]);
if (offeredVersion !== undefined) {
  STAND_INS.set('electron-updater', import.meta.resolve('./electron-updater.ts'));
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const url = STAND_INS.get(specifier);
    return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true };
  },
});

const { app } = await import('./app.ts');
const { dialog } = await import('./dialogs.ts');
const { becomeReady } = await import('./lifecycle.ts');
const { listenToTest } = await import('./respond.ts');
await import('./electron.ts');
if (browserEndpoint) await (await import('./pages.ts')).openBrowser(browserEndpoint);
listenToTest();

// Electron shows what nobody catches, and goes on.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') > 1) return;
  dialog.showErrorBox(
    'A JavaScript error occurred in the main process',
    `Uncaught Exception:\n${error.stack}`,
  );
});

const [, , main = ''] = process.argv;
// This script, and the path of the app, which an installed one does not have there.
process.argv.splice(1, isPackaged ? 2 : 1);
Object.defineProperty(process, 'platform', { value: platform });
for (const name of ['setTimeout', 'setInterval'] as const) {
  const original = globalThis[name];
  globalThis[name] = ((run: () => void, delay = 0, ...args: []) =>
    original(
      run,
      delay === keptTimer ? delay : Math.min(delay, longestTimer),
      ...args,
    )) as typeof setTimeout & typeof setInterval;
}
report({ event: 'registered', at: performance.timeOrigin + performance.now() });
try {
  await import(pathToFileURL(resolve(main)).href);
} catch (error) {
  process.emit('uncaughtException', error as Error);
}
becomeReady(app);
