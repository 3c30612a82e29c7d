// Electron's main process as far as the shell uses it: what the shell does is reported to the test, and what a page,
// the user or the operating system would do comes from the test. A window shows nothing, or a page in Chromium.
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Happening, type MenuEntry, report } from './happenings.ts';
import { type PageEvents, type Shown, showNothing, showPage } from './pages.ts';

const paths = new Map([
  ['appData', tmpdir()],
  ['documents', process.env['STAND_IN_DOCUMENTS'] ?? tmpdir()],
]);
let windows: BrowserWindow[] = [];
let windowCount = 0;

function preventable<Fields extends object>(fields: Fields) {
  const event = { ...fields, prevented: false, preventDefault: () => {} };
  event.preventDefault = () => {
    event.prevented = true;
  };
  return event;
}

class App extends EventEmitter {
  isPackaged = false;
  whenReady = () => Promise.resolve();
  requestSingleInstanceLock = () => process.env['STAND_IN_SECOND_INSTANCE'] !== '1';
  getVersion = () => '1.2.3';
  getLocale = () => process.env['STAND_IN_LOCALE'] ?? 'en-US';
  getAppPath = () => process.cwd();
  setName = () => {};
  setAppUserModelId = () => {};
  getPath = (name: string) => paths.get(name) ?? '';

  setPath(name: string, path: string): void {
    paths.set(name, path);
    report({ event: 'path', name, path });
  }

  quit(): void {
    this.emit('before-quit', preventable({}));
    for (const window of windows) window.close();
    if (windows.length > 0) return;
    const event = preventable({});
    this.emit('will-quit', event);
    if (!event.prevented) process.exit(0);
  }
}

export const app = new App();
process.on('SIGTERM', () => app.quit());

class WebContents extends EventEmitter {
  openWindow: (details: { url: string }) => { action: string } = () => ({ action: 'allow' });
  readonly shown: Shown;
  readonly id: number;

  constructor(id: number, preload: string, size: { width: number; height: number }) {
    super();
    this.id = id;
    const hasBrowser = Boolean(process.env['STAND_IN_BROWSER']);
    this.shown = hasBrowser ? showPage(preload, size, this.pageEvents()) : showNothing(preload);
  }

  private pageEvents(): PageEvents {
    return {
      invoke: (channel, args, senderUrl) => invoke(this, channel, args, senderUrl),
      navigate: (url) => {
        const event = preventable({ url });
        this.emit('will-navigate', event);
        return !event.prevented;
      },
      fetch: (url) => protocols.get(new URL(url).protocol)?.(new Request(url)) ?? null,
      openWindow: (url) => void this.openWindow({ url }),
      download: (name, saveAs) => void download(this, name, saveAs),
    };
  }

  getURL = () => this.shown.url();
  printToPDF = () => this.shown.printToPdf();
  setWindowOpenHandler = (handler: typeof this.openWindow) => {
    this.openWindow = handler;
  };

  send(channel: string, ...args: unknown[]): void {
    report({ event: 'sent', id: this.id, channel });
    this.shown.send(channel, ...args);
  }
}

export class BrowserWindow extends EventEmitter {
  readonly id: number;
  readonly webContents: WebContents;
  private bounds = { x: 0, y: 0, width: 800, height: 600 };

  static fromWebContents(contents: WebContents): BrowserWindow | null {
    return windows.find(({ webContents }) => webContents === contents) ?? null;
  }

  constructor({ webPreferences, ...options }: { webPreferences: Record<string, unknown> }) {
    super();
    windowCount += 1;
    this.id = windowCount;
    windows.push(this);
    Object.assign(this.bounds, options);
    report({ event: 'window', id: this.id, options, webPreferences });
    makingFor = this.id;
    this.webContents = new WebContents(this.id, String(webPreferences['preload']), this.bounds);
    app.emit('web-contents-created', {}, this.webContents);
  }

  isMinimized = () => false;
  isMaximized = () => false;
  isDestroyed = () => !windows.includes(this);
  restore = () => {};
  setProgressBar = () => {};
  show = () => report({ event: 'shown', id: this.id });
  focus = () => report({ event: 'focused', id: this.id });
  maximize = () => report({ event: 'maximized', id: this.id });
  getNormalBounds = () => {
    const { x, y, width, height } = this.bounds;
    return { x, y, width, height };
  };

  move(bounds: Partial<typeof this.bounds>): void {
    Object.assign(this.bounds, bounds);
  }

  hide(): void {
    this.emit('hide');
    report({ event: 'hidden', id: this.id });
  }

  async loadURL(url: string): Promise<void> {
    report({ event: 'load', id: this.id, url });
    await this.webContents.shown.load(url);
    this.emit('ready-to-show');
  }

  close(): void {
    const event = preventable({});
    this.emit('close', event);
    if (event.prevented) return;
    windows = windows.filter((window) => window !== this);
    this.webContents.shown.close();
    report({ event: 'closed', id: this.id });
    this.emit('closed');
    if (windows.length > 0) return;
    if (app.listenerCount('window-all-closed') > 0) app.emit('window-all-closed');
    else app.quit();
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

type ProtocolHandler = (request: Request) => Promise<Response>;
const protocols = new Map<string, ProtocolHandler>();

export const protocol = { registerSchemesAsPrivileged: () => {} };

class Session extends EventEmitter {
  readonly protocol = {
    handle: (scheme: string, handler: ProtocolHandler) => void protocols.set(`${scheme}:`, handler),
  };
  setPermissionRequestHandler = (handler: PermissionHandler) => {
    askPermission = handler;
  };
  setPermissionCheckHandler = (handler: PermissionCheck) => {
    checkPermission = handler;
  };
  setDevicePermissionHandler = () => {};
}

export const session = { defaultSession: new Session() };

async function download(
  contents: WebContents,
  name: string,
  saveAs: (path: string) => Promise<void>,
): Promise<void> {
  const item = new EventEmitter();
  let defaultPath = '';
  Object.assign(item, {
    getFilename: () => name,
    getTotalBytes: () => 0,
    getReceivedBytes: () => 0,
    setSaveDialogOptions: (options: { defaultPath: string }) => ({ defaultPath } = options),
  });
  session.defaultSession.emit('will-download', {}, item, contents);
  const state = await saveAs(defaultPath).then(
    () => 'completed',
    () => 'interrupted',
  );
  item.emit('done', {}, state);
  report({ event: 'download', defaultPath, state });
}

type Handler = (event: object, ...args: unknown[]) => unknown;
const bridgeHandlers = new Map<string, Handler>();
export const ipcMain = {
  handle: (name: string, handler: Handler) => void bridgeHandlers.set(name, handler),
};

/** As a structured clone would: functions and prototypes do not pass. */
async function invoke(
  sender: WebContents,
  channel: string,
  args: unknown[],
  senderUrl: string,
): Promise<unknown> {
  const handler = bridgeHandlers.get(channel);
  if (!handler) throw new Error(`nobody handles ${channel}`);
  return handler({ sender, senderFrame: { url: senderUrl } }, ...structuredClone(args));
}

let senderUrl = '';
/** Preload scripts run here where there is no browser; each belongs to the window that was being made. */
let makingFor = 0;
let calling: WebContents | undefined;
export const ipcRenderer = {
  invoke: (channel: string, ...args: unknown[]) => invoke(calling as WebContents, channel, args, senderUrl),
  on: () => {},
  off: () => {},
};

type Exposed = Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;
const exposed = new Map<number, Exposed>();
export const contextBridge = {
  exposeInMainWorld: (name: string, value: Exposed[string]) =>
    void exposed.set(makingFor, { ...exposed.get(makingFor), [name]: value }),
};

let pressButton: ((button: number) => void) | undefined;
let choosePath: ((path: string | null) => void) | undefined;

interface FileDialogOptions {
  defaultPath?: string;
  filters?: { extensions: string[] }[];
}

function fileDialog(kind: 'open' | 'save', options: FileDialogOptions): Promise<string | null> {
  return new Promise((resolve) => {
    choosePath = resolve;
    const extensions = options.filters?.flatMap((filter) => filter.extensions) ?? [];
    report({ event: 'file-dialog', kind, defaultPath: options.defaultPath ?? '', extensions });
  });
}

export const dialog = {
  showMessageBox: ({
    message,
    detail = '',
    buttons = [],
  }: {
    message: string;
    detail?: string;
    buttons?: string[];
  }) =>
    new Promise((resolve) => {
      pressButton = (response) => resolve({ response });
      report({ event: 'message-box', message, detail, buttons });
    }),
  showErrorBox: (title: string, content: string) => report({ event: 'error-box', title, content }),
  async showSaveDialog(...args: unknown[]) {
    const filePath = await fileDialog('save', args.at(-1) as FileDialogOptions);
    return { canceled: filePath === null, filePath: filePath ?? '' };
  },
  async showOpenDialog(...args: unknown[]) {
    const path = await fileDialog('open', args.at(-1) as FileDialogOptions);
    return { canceled: path === null, filePaths: path === null ? [] : [path] };
  },
};

interface Item {
  id?: string;
  label?: string;
  enabled?: boolean;
  click?(): void;
  submenu?: Item[];
}

const flat = (items: Item[]): Item[] => items.flatMap((item) => [item, ...flat(item.submenu ?? [])]);
const entries = (items: Item[]): MenuEntry[] =>
  flat(items)
    .filter(({ label }) => label !== undefined)
    .map(({ id = '', label = '', enabled = true }) => ({ id, label, enabled }));

let menu: Item[] = [];
let trayMenu: Item[] = [];
export const Menu = {
  buildFromTemplate: (template: Item[]) => template,
  setApplicationMenu(template: Item[]): void {
    menu = template;
    report({ event: 'menu', items: entries(template) });
  },
};

export const nativeImage = { createFromPath: (path: string) => path };

export class Tray extends EventEmitter {
  private icon: string;
  private tooltip = '';

  constructor(icon: string) {
    super();
    this.icon = icon;
  }

  setImage(icon: string): void {
    this.icon = icon;
  }

  setToolTip(tooltip: string): void {
    this.tooltip = tooltip;
  }

  setContextMenu(template: Item[]): void {
    trayMenu = template;
    report({ event: 'tray', icon: this.icon, tooltip: this.tooltip, items: entries(template) });
  }
}

const notifications: Notification[] = [];
export class Notification extends EventEmitter {
  static isSupported = () => true;
  private readonly options: { title: string; body: string };

  constructor(options: { title: string; body: string }) {
    super();
    this.options = options;
  }

  show(): void {
    notifications.push(this);
    report({ event: 'notification', ...this.options });
  }
}

export const clipboard = { writeText: (text: string) => report({ event: 'copied', text }) };

export const shell = {
  openPath: async (path: string) => report({ event: 'opened', what: path }),
  openExternal: async (url: string) => report({ event: 'opened', what: url }),
};

export const screen = {
  getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1920, height: 1040 } }],
};

export const powerMonitor = new EventEmitter();

/** A keychain that scrambles, so that a test sees whether the key is on the disk in clear. */
const scramble = (bytes: Buffer) => Buffer.from(bytes.map((byte) => byte ^ 0x5a));
export const safeStorage = {
  isAsyncEncryptionAvailable: async () => true,
  getSelectedStorageBackend: () => process.env['STAND_IN_KEYCHAIN'] ?? 'gnome_libsecret',
  encryptStringAsync: async (text: string) => scramble(Buffer.from(text)),
  async decryptStringAsync(sealed: Buffer) {
    if (process.env['STAND_IN_KEYCHAIN'] === 'locked') throw new Error('the keychain is locked');
    return { shouldReEncrypt: false, result: scramble(sealed).toString() };
  },
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

  postMessage(message: { type: string }): void {
    report({ event: 'posted', type: message.type });
    this.child.send(message);
  }
}

export const utilityProcess = {
  fork(modulePath: string, args: string[], { env }: { env: NodeJS.ProcessEnv }): UtilityProcess {
    const standInServer = process.env['STAND_IN_SERVER'];
    const child = fork(standInServer ? fileURLToPath(standInServer) : modulePath, args, {
      execArgv: ['--import', import.meta.resolve('./parent-port.ts')],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env,
    });
    const key = env['LICENSE_DESK_MASTER_KEY'] ?? null;
    report({
      event: 'forked',
      pid: child.pid ?? 0,
      args,
      key,
      at: performance.timeOrigin + performance.now(),
    });
    return new UtilityProcess(child);
  },
};

async function permissionFor(permission: string, origin: string): Promise<boolean[]> {
  const asked = await new Promise<boolean>((resolve) => {
    askPermission(null, permission, resolve, { requestingUrl: `${origin}/` });
  });
  return [asked, checkPermission(null, permission, origin)];
}

type BridgeCall = Extract<Happening, { do: 'call-bridge' }>;
async function callBridge(call: BridgeCall): Promise<unknown> {
  const { window = 1, method, arguments: args = [] } = call;
  const bridges = exposed.get(window) ?? {};
  senderUrl = call.senderUrl;
  calling = windows.find(({ id }) => id === window)?.webContents;
  try {
    const [bridge] = Object.values(bridges);
    return { names: Object.keys(bridges), reply: await bridge?.[method]?.(...args) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

async function happen(happening: Happening): Promise<unknown> {
  const window = windows.at(-1);
  const click = (items: Item[], id: string) =>
    flat(items)
      .find((item) => item.id === id)
      ?.click?.();
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
      return callBridge(happening);
    case 'second-instance':
      return app.emit('second-instance', {}, happening.argv, process.cwd());
    case 'open-file':
      return app.emit('open-file', preventable({}), happening.path);
    case 'close-window':
      return window?.close();
    case 'move-window':
      return window?.move(happening);
    case 'press-button':
      return pressButton?.(happening.button);
    case 'choose-path':
      return choosePath?.(happening.path);
    case 'click-menu':
      return click(menu, happening.id);
    case 'click-tray':
      return click(trayMenu, happening.id);
    case 'click-notification':
      return notifications[happening.number - 1]?.emit('click');
    case 'resume':
    case 'shutdown':
      return powerMonitor.emit(happening.do);
    default:
      return undefined;
  }
}

process.on('message', async ({ id, happening }: { id: number; happening: Happening }) => {
  const value = await happen(happening);
  report({ event: 'answer', to: id, value: value ?? null });
});
