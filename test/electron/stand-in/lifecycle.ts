// When the app is ready, and how it ends: modelled on the order in Electron's `Browser` and `WindowList` classes.
import { emit, electronEvent } from './strict.ts';

/** A window as the end of the app sees it. */
interface OpenWindow {
  close(): void;
  destroy(): void;
}

const exitNode = process.exit.bind(process);
const ready = Promise.withResolvers<void>();

let isAppReady = false;
let isQuitting = false;
let isExiting = false;
let isShutDown = false;
let exitCode = 0;
let app: object;
let onAllClosed: (() => void) | null = null;
const windows = new Set<OpenWindow>();

export const isReady = () => isAppReady;
export const whenReady = () => ready.promise;

/** Once the main module has been evaluated, top-level `await` included. */
export function becomeReady(electronApp: object): void {
  app = electronApp;
  // Everything that was imported, but not what a microtask does later.
  setImmediate(() => {
    if (isShutDown) return;
    isAppReady = true;
    ready.resolve();
    emit(app, 'ready', electronEvent({}), {});
  });
}

/** Called as soon as the app object exists: it may quit before it is ready. */
export function attachApp(electronApp: object): void {
  app = electronApp;
}

/** @throws with this message before the app is ready */
export function needReady(message: string): void {
  if (!isAppReady) throw new Error(message);
}

function shutDown(): void {
  if (isShutDown) return;
  isShutDown = true;
  isQuitting = true;
  emit(app, 'quit', electronEvent({}), exitCode);
  // The message loop ends after what runs now.
  setImmediate(() => exitNode(exitCode));
}

function notifyAndShutDown(): void {
  if (isShutDown) return;
  const event = electronEvent({});
  emit(app, 'will-quit', event);
  if (event.defaultPrevented) isQuitting = false;
  else shutDown();
}

export function quit(): void {
  if (isQuitting) return;
  const event = electronEvent({});
  emit(app, 'before-quit', event);
  if (event.defaultPrevented) return;
  isQuitting = true;
  if (windows.size === 0) notifyAndShutDown();
  else for (const window of windows) window.close();
}

/** Closes all windows without asking the app to quit. A window that stays open is waited for. */
export function closeAllWindows(then: () => void): void {
  if (windows.size === 0) return then();
  onAllClosed = then;
  for (const window of windows) window.close();
}

/** Without asking any window or listener. */
export function exit(code = 0): void {
  exitCode = code;
  if (!isAppReady) exitNode(code);
  isQuitting = true;
  isExiting = true;
  if (windows.size === 0) shutDown();
  else for (const window of windows) window.destroy();
}

export function addWindow(window: OpenWindow): void {
  windows.add(window);
}

export function removeWindow(window: OpenWindow): void {
  windows.delete(window);
  if (windows.size > 0) return;
  onAllClosed?.();
  onAllClosed = null;
  if (isExiting) shutDown();
  else if (isQuitting) notifyAndShutDown();
  // Electron quits unless somebody listens.
  else if (!emit(app, 'window-all-closed')) quit();
}

/** A window that stays open keeps the app from quitting. */
export function closeCancelled(): void {
  isQuitting = false;
}
