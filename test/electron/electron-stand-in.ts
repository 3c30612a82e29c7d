// Electron's main process as far as the shell uses it, without windows: what the shell does is reported to the test,
// and what a page, the user or the operating system would do comes from the test.
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What the shell did. */
export type ShellEvent =
  | { event: 'window'; id: number; options: Record<string, unknown>; webPreferences: Record<string, unknown> }
  | { event: 'load'; id: number; url: string }
  | { event: 'shown' | 'focused'; id: number }
  | { event: 'forked'; pid: number; args: string[] }
  | { event: 'dialog'; message: string; detail: string }
  | { event: 'path'; name: string; path: string }
  | { event: 'answer'; to: number; value: unknown };

/** What happens to the shell; each is answered with `answer`. */
export type Happening =
  | { do: 'navigate'; from: 'will-navigate' | 'will-frame-navigate' | 'will-redirect'; url: string }
  | { do: 'open-window'; url: string }
  | { do: 'attach-webview' }
  | { do: 'ask-permission'; permission: string; origin: string }
  | { do: 'call-bridge'; method: string; senderUrl: string }
  | { do: 'second-instance' }
  | { do: 'close-window' }
  | { do: 'press-button'; button: number };

type Listener = (...args: never[]) => unknown;

const require = createRequire(import.meta.url);
const report = (event: ShellEvent) => process.send?.(event);
const paths = new Map([['appData', tmpdir()]]);
let windows: BrowserWindow[] = [];
let pressButton: ((button: number) => void) | undefined;

function preventable<Fields extends object>(fields: Fields) {
  const event = { ...fields, prevented: false, preventDefault: () => {} };
  event.preventDefault = () => {
    event.prevented = true;
  };
  return event;
}

class App extends EventEmitter {
  readonly isPackaged = false;
  quitting = false;
  whenReady = () => Promise.resolve();
  requestSingleInstanceLock = () => process.env['STAND_IN_SECOND_INSTANCE'] !== '1';
  getVersion = () => '1.2.3';
  setName = () => {};
  setAppUserModelId = () => {};
  getPath = (name: string) => paths.get(name) ?? '';

  setPath(name: string, path: string): void {
    paths.set(name, path);
    report({ event: 'path', name, path });
  }

  quit(): void {
    this.quitting = true;
    for (const window of windows) window.close();
    const event = preventable({});
    this.emit('will-quit', event);
    if (!event.prevented) process.exit(0);
  }
}

export const app = new App();
process.on('SIGTERM', () => app.quit());

class WebContents extends EventEmitter {
  openWindow: (details: { url: string }) => { action: string } = () => ({ action: 'allow' });
  url = '';
  getURL = () => this.url;
  setWindowOpenHandler = (handler: typeof this.openWindow) => {
    this.openWindow = handler;
  };
}

export class BrowserWindow extends EventEmitter {
  readonly id = windows.length + 1;
  readonly webContents = new WebContents();
  isMinimized = () => false;
  restore = () => {};
  show = () => report({ event: 'shown', id: this.id });
  focus = () => report({ event: 'focused', id: this.id });

  constructor({ webPreferences, ...options }: { webPreferences: Record<string, unknown> }) {
    super();
    windows.push(this);
    report({ event: 'window', id: this.id, options, webPreferences });
    app.emit('web-contents-created', {}, this.webContents);
    require(String(webPreferences['preload']));
  }

  loadURL(url: string): Promise<void> {
    // As the page does at once: it takes the code out of its address, and shows its first screen.
    const shown = new URL(url);
    shown.search = '';
    if (shown.hash === '') shown.hash = '#/licenses';
    this.webContents.url = shown.href;
    report({ event: 'load', id: this.id, url });
    this.emit('ready-to-show');
    return Promise.resolve();
  }

  close(): void {
    windows = windows.filter((window) => window !== this);
    this.emit('closed');
    if (windows.length === 0 && !app.quitting) app.emit('window-all-closed');
  }
}

type PermissionCallback = (granted: boolean) => void;
type PermissionHandler = (
  contents: null,
  permission: string,
  callback: PermissionCallback,
  details: { requestingUrl: string },
) => void;
type PermissionCheck = (contents: null, permission: string, origin: string) => boolean;

let askPermission: PermissionHandler = (_contents, _permission, callback) => callback(true);
let checkPermission: PermissionCheck = () => true;

export const session = {
  defaultSession: {
    setPermissionRequestHandler: (handler: PermissionHandler) => {
      askPermission = handler;
    },
    setPermissionCheckHandler: (handler: PermissionCheck) => {
      checkPermission = handler;
    },
    setDevicePermissionHandler: () => {},
  },
};

const bridgeHandlers = new Map<string, Listener>();
export const ipcMain = {
  handle: (name: string, handler: Listener) => void bridgeHandlers.set(name, handler),
};

let senderUrl = '';
export const ipcRenderer = {
  invoke: async (name: string) =>
    (bridgeHandlers.get(name) as unknown as (event: object) => unknown)({ senderFrame: { url: senderUrl } }),
};

let exposed: Record<string, Record<string, () => Promise<unknown>>> = {};
export const contextBridge = {
  exposeInMainWorld: (name: string, value: Record<string, () => Promise<unknown>>) => {
    exposed = { ...exposed, [name]: value };
  },
};

export const dialog = {
  showMessageBox: ({ message, detail }: { message: string; detail: string }) =>
    new Promise((resolve) => {
      pressButton = (response) => resolve({ response });
      report({ event: 'dialog', message, detail });
    }),
};

class UtilityProcess extends EventEmitter {
  readonly stderr;
  private readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    super();
    this.child = child;
    this.stderr = child.stderr;
    child.on('message', (message) => this.emit('message', message));
    child.on('exit', (code) => this.emit('exit', code ?? 1));
  }

  get pid(): number | undefined {
    return this.child.exitCode === null ? this.child.pid : undefined;
  }

  postMessage(message: object): void {
    this.child.send(message);
  }
}

export const utilityProcess = {
  fork(modulePath: string, args: string[]): UtilityProcess {
    const standInServer = process.env['STAND_IN_SERVER'];
    const child = fork(standInServer ? fileURLToPath(standInServer) : modulePath, args, {
      execArgv: ['--import', import.meta.resolve('./parent-port-stand-in.ts')],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    report({ event: 'forked', pid: child.pid ?? 0, args });
    return new UtilityProcess(child);
  },
};

async function permissionFor(permission: string, origin: string): Promise<boolean[]> {
  const asked = await new Promise<boolean>((resolve) => {
    askPermission(null, permission, resolve, { requestingUrl: `${origin}/` });
  });
  return [asked, checkPermission(null, permission, origin)];
}

async function callBridge(method: string, from: string): Promise<unknown> {
  senderUrl = from;
  try {
    return { names: Object.keys(exposed), reply: await exposed['licenseDesk']?.[method]?.() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

async function happen(happening: Happening): Promise<unknown> {
  const [window] = windows;
  switch (happening.do) {
    case 'navigate': {
      const event = preventable({ url: happening.url });
      window?.webContents.emit(happening.from, event);
      return event.prevented;
    }
    case 'attach-webview': {
      const event = preventable({});
      window?.webContents.emit('will-attach-webview', event);
      return event.prevented;
    }
    case 'open-window':
      return window?.webContents.openWindow({ url: happening.url }).action;
    case 'ask-permission':
      return permissionFor(happening.permission, happening.origin);
    case 'call-bridge':
      return callBridge(happening.method, happening.senderUrl);
    case 'second-instance':
      return app.emit('second-instance');
    case 'close-window':
      return window?.close();
    case 'press-button':
      return pressButton?.(happening.button);
    default:
      return undefined;
  }
}

process.on('message', async ({ id, happening }: { id: number; happening: Happening }) => {
  report({ event: 'answer', to: id, value: await happen(happening) });
});
