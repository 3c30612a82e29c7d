// What Electron's documentation and sources say that conformance/app observes.

/** Messages of the native modules (shell/browser/api). */
const beforeReady = {
  isReady: false,
  locale: '',
  encryptionIsAvailable: false,
  registerScheme: 'returns',
  browserWindow: 'throws: Cannot create BrowserWindow before app is ready',
  tray: 'throws: Cannot create Tray before app is ready',
  notification: 'throws: Cannot create Notification before app is ready',
  session: 'throws: Session can only be received when app is ready',
  screen: "throws: The 'screen' module can't be used before the app 'ready' event",
  fork: 'throws: utilityProcess cannot be created before app is ready.',
  dialog: 'throws: dialog module can only be used after app is ready',
  encrypt: 'rejects: safeStorage cannot be used before app is ready',
  unknownPath: "throws: Failed to get 'nowhere' path",
  emptyMenuItem: 'throws: Invalid template for MenuItem: must have at least one of label, role or type',
};

/** docs/api/safe-storage.md, docs/api/clipboard.md, docs/api/native-image.md, lib/browser/ipc-main-impl.ts. */
const system = {
  isReady: true,
  isPackaged: false,
  hasDock: process.platform === 'darwin',
  registerScheme: 'throws: protocol.registerSchemesAsPrivileged should be called before app is ready',
  secondHandler: "throws: Attempted to register a second handler for 'twice'",
  clipboardIsPromise: true,
  missingImageIsEmpty: true,
  encryption:
    process.platform === 'darwin'
      ? null
      : {
          isAvailable: true,
          hasMark: true,
          isEveryTimeDifferent: true,
          comesBack: true,
          garbage:
            'rejects: Error while decrypting the ciphertext provided to safeStorage.decryptStringAsync.',
        },
};

/** `close` is asked at once, and the page is closed later (shell/browser/native_window.cc, api/electron_api_base_window.cc). */
const windows = {
  order: ['close', 'after a refused close()', 'close', 'after close()', 'closed, destroyed'],
  isDestroyed: true,
  showAfterwards: 'throws: Object has been destroyed',
  progressAfterwards: 'throws: Object has been destroyed',
  listenAfterwards: 'returns',
};

/** docs/tutorial/sandbox.md, docs/api/context-bridge.md, docs/api/ipc-renderer.md, lib/browser/ipc-dispatch.ts. */
const ipc = {
  required: {
    electron: 'available',
    events: 'available',
    timers: 'available',
    url: 'available',
    'node:url': 'available',
    fs: 'throws: module not found: fs',
    'node:path': 'throws: module not found: node:path',
    './other.cjs': 'throws: module not found: ./other.cjs',
  },
  globals: { buffer: 'function', process: 'object', immediate: 'function' },
  isFrozen: true,
  list: 'returns [1,2]',
  point: 'xundefined',
  add: 'returns 3',
  later: 'returns "later"',
  fail: 'throws: bridged',
  callBack: 'returns 41',
  echo: 'returns {"a":[1],"b":null}',
  map: 'returns {"size":1}',
  function: "throws: Error invoking remote method 'function': Error: An object could not be cloned.",
  refusal: "throws: Error invoking remote method 'refusal': TypeError: refused",
  nobody: "throws: Error invoking remote method 'nobody': Error: No handler registered for 'nobody'",
};

/** docs/api/utility-process.md, docs/api/parent-port.md, lib/browser/api/utility-process.ts, shell/services/node/node_service.cc. */
const utility = {
  pid: { beforeSpawn: 'undefined', atSpawn: 'number', afterExit: 'undefined' },
  messages: [{ survivesRejection: true, isMap: true }],
  exit: { code: 3, hasListeners: true },
  stderr: { afterExit: null, listenersAfterExit: 0 },
  postAfterwards: null,
  killAfterwards: false,
};

/** A refusal anywhere on the way cancels quitting, and `window-all-closed` is not for an app that quits (docs/api/app.md). */
const quit = [
  'before-quit, refused',
  'before-quit',
  'close, refused',
  'before-quit',
  'close',
  'closed',
  'will-quit, refused',
  'before-quit',
  'will-quit',
  'quit 0',
];

export const expectations = { beforeReady, system, windows, ipc, utility, quit };
