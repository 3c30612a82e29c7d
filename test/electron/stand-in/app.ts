// `app`: identity, paths, login items, quitting.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  appData,
  appPath,
  documents,
  isPackaged,
  isSecondInstance,
  locale,
  platform,
  wasOpenedAtLogin,
} from './environment.ts';
import { report } from './happenings.ts';
import { attachApp, exit, isReady, quit, whenReady } from './lifecycle.ts';
import { strict, strictEmitter } from './strict.ts';

const paths = new Map([
  ['appData', appData ?? tmpdir()],
  ['userData', join(appData ?? tmpdir(), 'license-desk')],
  ['documents', documents ?? tmpdir()],
  ['temp', tmpdir()],
  ['exe', process.execPath],
]);

/** Windows keeps a command line, macOS only whether. */
let loginItem: string | null = null;

/** Electron writes it to the registry without adding quotes (`FormatCommandLineString`, electron/electron#32657). */
function commandLine({ path, args = [] }: { path?: string; args?: string[] }): string {
  return [path ?? process.execPath, ...args].join(' ');
}

/** On Linux these exist and do nothing. */
const loginItems =
  platform === 'linux'
    ? ({
        setLoginItemSettings: () => {},
        getLoginItemSettings: () => ({
          openAtLogin: false,
          wasOpenedAtLogin: false,
          status: 'not-registered',
          executableWillLaunchAtLogin: false,
          launchItems: [],
        }),
      } satisfies Partial<Electron.App>)
    : ({
        setLoginItemSettings(settings) {
          const command = platform === 'win32' ? commandLine(settings) : '';
          loginItem = settings.openAtLogin === true ? command : null;
          report({ event: 'login-item', openAtLogin: settings.openAtLogin ?? false, command });
        },
        getLoginItemSettings(options = {}) {
          const command = platform === 'win32' ? commandLine(options) : '';
          return {
            openAtLogin: loginItem === command,
            wasOpenedAtLogin: platform === 'darwin' && isReady() && wasOpenedAtLogin,
            status: loginItem === null ? 'not-registered' : 'enabled',
            executableWillLaunchAtLogin: loginItem !== null,
            launchItems: [],
          };
        },
      } satisfies Partial<Electron.App>);

let isDockVisible = true;

function setDock(isVisible: boolean): void {
  isDockVisible = isVisible;
  report({ event: 'dock', isVisible });
}

const dock = strict<Electron.Dock>('app.dock', {
  hide: () => setDock(false),
  show: async () => setDock(true),
  isVisible: () => isDockVisible,
} satisfies Partial<Electron.Dock>);

const members = {
  isPackaged,
  dock: platform === 'darwin' ? dock : undefined,
  isReady,
  whenReady,
  quit,
  exit,
  relaunch: (options) => report({ event: 'relaunch', args: options?.args ?? process.argv.slice(1) }),
  requestSingleInstanceLock: () => !isSecondInstance,
  releaseSingleInstanceLock: () => {},
  getVersion: () => '1.2.3',
  getName: () => 'License Desk',
  // Known once Chromium is up.
  getLocale: () => (isReady() ? locale : ''),
  getAppPath: () => appPath,
  setName: () => {},
  setAppUserModelId: () => {},
  getPath(name) {
    const path = paths.get(name);
    if (path === undefined) throw new Error(`Failed to get '${name}' path`);
    return path;
  },
  setPath(name, path) {
    paths.set(name, path);
    report({ event: 'path', name, path });
  },
  ...loginItems,
} satisfies Partial<Electron.App>;

export const app = strictEmitter<Electron.App>('app', members);
attachApp(app);

// As in Electron's main process: Node's own way out ends the app, and a signal asks it to quit unless the app handles
// it, which replaces Electron's own handler.
process.exit = ((code?: number) => exit(Number(code ?? process.exitCode ?? 0))) as typeof process.exit;
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) quit();
  });
}
