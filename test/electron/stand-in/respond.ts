// Does to the shell what a page, the user or the operating system would do, when the test says so.
import { app } from './app.ts';
import { windows, type WindowOfTest } from './browser-window.ts';
import { announceShutdown, powerMonitor } from './desktop.ts';
import { choosePath, pressButton } from './dialogs.ts';
import { platform } from './environment.ts';
import { type Happening, report } from './happenings.ts';
import { quit } from './lifecycle.ts';
import { clickMenu, clickTray, clickTrayIcon } from './menus.ts';
import { clickNotification, timeOut } from './notifications.ts';
import { beginDownload, permissionFor } from './session.ts';
import { electronEvent, emit } from './strict.ts';
import { autoUpdater } from './updater.ts';
import { killAll } from './utility-process.ts';

type Of<Name extends Happening['do']> = Extract<Happening, { do: Name }>;

/** Without a window: of the first whose page has a bridge. */
async function callBridge({ window, method, arguments: args = [], senderUrl }: Of<'call-bridge'>) {
  const shown = windows.find(({ id, contents }) =>
    window === undefined ? contents.shown.names?.().length : id === window,
  )?.contents.shown;
  try {
    return { names: shown?.names?.() ?? [], reply: await shown?.call?.(method, args, senderUrl) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function preventedIn(window: WindowOfTest | undefined, name: string, fields: object): boolean {
  const event = electronEvent(fields);
  if (window) emit(window.contents.object, name, event);
  return event.defaultPrevented;
}

function download(window: WindowOfTest | undefined, steps: Of<'download'>['steps']): void {
  if (!window) return;
  const begun = beginDownload(window.contents.object, 'licenses.csv');
  const take = {
    updated: begun.update,
    'destroy-window': window.destroy,
    done: () => begun.finish('completed'),
  };
  for (const step of steps) take[step]();
}

/** @returns false where the system ended the session without waiting for the app */
function endSession(): boolean {
  if (platform === 'win32') {
    for (const { object } of windows)
      emit(object, 'query-session-end', electronEvent({ reasons: ['shutdown'] }));
    return windows.length > 0;
  }
  if (announceShutdown()) return true;
  killAll();
  process.kill(process.pid, 'SIGKILL');
  return false;
}

async function happen(happening: Happening): Promise<unknown> {
  const window = windows.at(-1);
  switch (happening.do) {
    case 'navigate':
      return preventedIn(window, happening.from, { url: happening.url });
    case 'attach-webview':
      return preventedIn(window, 'will-attach-webview', {});
    case 'open-window':
      return window?.contents.openWindow(happening.url);
    case 'ask-permission':
      return permissionFor(happening.permission, happening.origin);
    case 'call-bridge':
      return callBridge(happening);
    case 'second-instance':
      return emit(app, 'second-instance', electronEvent({}), happening.argv, process.cwd(), null);
    case 'open-file':
      return emit(app, 'open-file', electronEvent({}), happening.path);
    case 'close-window':
      return window?.object.close();
    case 'enter-full-screen':
      return window?.enterFullScreen();
    case 'move-window':
      return window?.move(happening, happening.maximized ?? false);
    case 'press-button':
      return pressButton(happening.button);
    case 'guard-page':
      return window?.guard();
    case 'reload-page':
      return window?.object.webContents.reload();
    case 'crash-page':
      return window?.contents.crash();
    case 'quit-from-dock':
      return quit();
    case 'choose-path':
      return choosePath(happening.path);
    case 'click-menu':
      return clickMenu(happening.id);
    case 'click-tray':
      return clickTray(happening.id);
    case 'click-tray-icon':
      return clickTrayIcon();
    case 'right-click':
      return window?.contents.rightClick(happening);
    case 'click-notification':
      return clickNotification(happening.number);
    case 'time-out-notification':
      return timeOut(happening.number);
    case 'download':
      return download(window, happening.steps);
    case 'resume':
      return emit(powerMonitor, 'resume');
    case 'end-session':
      return endSession();
    case 'app-image-renamed':
      return autoUpdater.emit('appimage-filename-updated', happening.path);
    default:
      return void Promise.reject(new Error('rejected with nobody to hear it'));
  }
}

/** From here on the test is heard. */
export function listenToTest(): void {
  process.on('message', async ({ id, happening }: { id: number; happening: Happening }) => {
    const value = await happen(happening).catch((error: unknown) => {
      process.emit('uncaughtException', error as Error);
    });
    report({ event: 'answer', to: id, value: value ?? null });
  });
  // The test process is gone, so nothing else would end this one.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}
