// `BrowserWindow`: closing is asked first and done later, and what is gone cannot be used any more.
import { app } from './app.ts';
import { isWayland, platform } from './environment.ts';
import { report } from './happenings.ts';
import { addWindow, closeCancelled, needReady, removeWindow } from './lifecycle.ts';
import { electronEvent, emit, strictEmitter } from './strict.ts';
import { type Contents, createContents } from './web-contents.ts';

export interface WindowOfTest {
  id: number;
  object: Electron.BrowserWindow;
  contents: Contents;
  move(bounds: Partial<Electron.Rectangle>, isMaximized: boolean): void;
  enterFullScreen(): void;
  /** Its page objects to being left. */
  guard(): void;
  destroy(): void;
}

/** Those that are open, in the order in which they were made. */
export const windows: WindowOfTest[] = [];
let made = 0;

function createWindow(options: Electron.BrowserWindowConstructorOptions = {}): Electron.BrowserWindow {
  needReady('Cannot create BrowserWindow before app is ready');
  made += 1;
  const id = made;
  const { webPreferences = {}, ...rest } = options;
  const bounds = { x: 0, y: 0, width: 800, height: 600 };
  for (const name of ['x', 'y', 'width', 'height'] as const) bounds[name] = options[name] ?? bounds[name];
  let isVisible = options.show ?? true;
  let isClosing = false;
  let isDestroyed = false;
  let isMaximized = false;
  let isMinimized = false;
  let isFullScreen = false;
  let isPainted = false;
  let isReadyToShow = false;
  let isGuarded = false;

  report({ event: 'window', id, options: { ...rest }, webPreferences: { ...webPreferences } });
  const life = { isDestroyed: () => isDestroyed };
  const contents = createContents({
    id,
    preload: String(webPreferences.preload ?? ''),
    size: bounds,
    ...life,
    mayUnload: () => mayUnload(),
    onLoaded() {
      isPainted = true;
      announceReady();
    },
  });

  /** Once in the life of a window, and on Wayland not while it is hidden. */
  function announceReady(): void {
    if (isReadyToShow || !isPainted || (isWayland && !isVisible)) return;
    isReadyToShow = true;
    emit(object, 'ready-to-show');
  }

  function show(): void {
    isVisible = true;
    isMinimized = false;
    report({ event: 'shown', id });
    emit(object, 'show');
    announceReady();
  }

  function destroy(): void {
    if (isDestroyed) return;
    isDestroyed = true;
    contents.shown.close();
    report({ event: 'closed', id });
    emit(object, 'closed');
    windows.splice(windows.indexOf(forTest), 1);
    removeWindow(open);
  }

  function mayUnload(): boolean {
    if (!isGuarded) return true;
    const event = electronEvent({});
    emit(contents.object, 'will-prevent-unload', event);
    return event.defaultPrevented;
  }

  function close(): void {
    if (isClosing || isDestroyed) return;
    const event = electronEvent({});
    emit(object, 'close', event);
    if (event.defaultPrevented || !mayUnload()) {
      closeCancelled();
      return;
    }
    isClosing = true;
    // The page is closed first, in another process.
    setImmediate(destroy);
  }

  function setFullScreen(isOn: boolean): void {
    if (isOn === isFullScreen) return;
    // The animation takes its time.
    setImmediate(() => {
      if (isDestroyed) return;
      isFullScreen = isOn;
      report({ event: 'full-screen', id, isOn });
      emit(object, isOn ? 'enter-full-screen' : 'leave-full-screen');
    });
  }

  const members = {
    id,
    webContents: contents.object,
    ...life,
    loadURL: (url) => contents.object.loadURL(url),
    close,
    destroy,
    show,
    focus: () => report({ event: 'focused', id }),
    isVisible: () => isVisible,
    isMinimized: () => isMinimized,
    isMaximized: () => isMaximized,
    isFullScreen: () => isFullScreen,
    setFullScreen,
    restore() {
      isMinimized = false;
    },
    minimize() {
      isMinimized = true;
      report({ event: 'minimized', id });
    },
    maximize() {
      isMaximized = true;
      report({ event: 'maximized', id });
      // Electron shows a hidden window to maximize it.
      if (!isVisible) show();
    },
    hide() {
      isVisible = false;
      if (platform === 'darwin' && isFullScreen) report({ event: 'black-space', id });
      report({ event: 'hidden', id });
      emit(object, 'hide');
    },
    getNormalBounds: () => ({ ...bounds }),
    setProgressBar: (value) => report({ event: 'progress', id, value }),
  } satisfies Partial<Electron.BrowserWindow>;
  const object = strictEmitter<Electron.BrowserWindow>('BrowserWindow', members, life);

  const open = { close, destroy };
  const forTest: WindowOfTest = {
    id,
    object,
    contents,
    move(next, nowMaximized) {
      Object.assign(bounds, next);
      isMaximized = nowMaximized;
    },
    enterFullScreen: () => setFullScreen(true),
    guard() {
      isGuarded = true;
    },
    destroy,
  };
  windows.push(forTest);
  addWindow(open);
  emit(app, 'web-contents-created', electronEvent({}), contents.object);
  emit(app, 'browser-window-created', electronEvent({}), object);
  return object;
}

/** Called with `new`; what it gives back is the strict object. */
export const BrowserWindow = Object.assign(
  function BrowserWindow(options?: Electron.BrowserWindowConstructorOptions) {
    return createWindow(options);
  },
  {
    fromWebContents: (contents) =>
      windows.find(({ object }) => object.webContents === contents)?.object ?? null,
    getAllWindows: () => windows.map(({ object }) => object),
  } satisfies Partial<typeof Electron.BrowserWindow>,
);
