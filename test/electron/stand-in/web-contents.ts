// `webContents`: what a window shows, and what its page does that the shell has a say in.
import { browserEndpoint } from './environment.ts';
import { type Happening, report } from './happenings.ts';
import { handleInvoke } from './ipc.ts';
import { type PageEvents, type Shown, showPage } from './pages.ts';
import { showNothing } from './preload-world.ts';
import { startDownload } from './session.ts';
import { serveScheme } from './protocol.ts';
import { cloned, electronEvent, emit, strictEmitter } from './strict.ts';

type WindowOpenHandler = Parameters<Electron.WebContents['setWindowOpenHandler']>[0];

type RightClick = Extract<Happening, { do: 'right-click' }>;

const EDITS = ['canUndo', 'canRedo', 'canCut', 'canCopy', 'canPaste', 'canDelete', 'canSelectAll'];

export interface Contents {
  object: Electron.WebContents;
  shown: Shown;
  /** As the page’s own `window.open` does. */
  openWindow(url: string): string;
  rightClick(on: RightClick): void;
  /** The process of the page ends. */
  crash(): void;
}

interface Owner {
  id: number;
  preload: string;
  size: { width: number; height: number };
  isDestroyed(): boolean;
  /** Asks the page, and the shell if the page objects. */
  mayUnload(): boolean;
  /** A page has been loaded, and painted where the compositor lets it. */
  onLoaded(): void;
}

export function createContents(owner: Owner): Contents {
  let openHandler: WindowOpenHandler = () => ({ action: 'allow' });
  let isCrashed = false;
  const openWindow = (url: string) => openHandler({ url } as Parameters<WindowOpenHandler>[0]).action;

  const events: PageEvents = {
    invoke: (channel, args, senderUrl) => handleInvoke(object, channel, args, senderUrl),
    navigate(url) {
      const event = electronEvent({ url });
      emit(object, 'will-navigate', event);
      return !event.defaultPrevented;
    },
    fetch: serveScheme,
    openWindow: (url) => void openWindow(url),
    download: (name, saveAs) => void startDownload(object, name, saveAs),
  };
  const shown = browserEndpoint
    ? showPage(owner.preload, owner.size, events)
    : showNothing(owner.preload, events.invoke);

  const members = {
    id: owner.id,
    isDestroyed: owner.isDestroyed,
    getURL: () => shown.url(),
    isCrashed: () => isCrashed,
    reload() {
      if (isCrashed || owner.mayUnload()) void members.loadURL(shown.url());
    },
    printToPDF: () => shown.printToPdf(),
    setWindowOpenHandler(handler) {
      openHandler = handler;
    },
    executeJavaScript: async (code) => shown.evaluate?.(code),
    send(channel, ...args) {
      report({ event: 'sent', id: owner.id, channel });
      shown.send(channel, ...cloned(args));
    },
    async loadURL(url) {
      report({ event: 'load', id: owner.id, url });
      isCrashed = false;
      await shown.load(url);
      if (owner.isDestroyed()) return;
      owner.onLoaded();
      emit(object, 'did-finish-load');
    },
  } satisfies Partial<Electron.WebContents>;
  const object = strictEmitter<Electron.WebContents>('webContents', members, owner);
  function crash(): void {
    isCrashed = true;
    emit(object, 'render-process-gone', electronEvent({}), { reason: 'crashed', exitCode: 5 });
  }
  const rightClick = ({ isEditable, selectionText, can }: RightClick) => {
    const editFlags = Object.fromEntries(EDITS.map((what) => [what, can.includes(what)]));
    emit(object, 'context-menu', electronEvent({}), { x: 7, y: 9, isEditable, selectionText, editFlags });
  };
  return { object, shown, openWindow, rightClick, crash };
}
