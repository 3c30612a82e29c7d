// What else the shell uses of the desktop: clipboard, other programs, screens, power.
import { platform, screenSize } from './environment.ts';
import { report } from './happenings.ts';
import { needReady } from './lifecycle.ts';
import { electronEvent, emit, strict, strictEmitter } from './strict.ts';

export const clipboard = strict<Electron.Clipboard>('clipboard', {
  writeText: async (text) => report({ event: 'copied', text }),
} satisfies Partial<Electron.Clipboard>);

export const shell = strict<Electron.Shell>('shell', {
  async openPath(path) {
    report({ event: 'opened', what: path });
    return '';
  },
  openExternal: async (url) => report({ event: 'opened', what: url }),
} satisfies Partial<Electron.Shell>);

const [width = 0, height = 0] = screenSize;
function display(): Electron.Display {
  needReady("The 'screen' module can't be used before the app 'ready' event");
  return { workArea: { x: 0, y: 0, width, height } } as Electron.Display;
}

export const screen = strictEmitter<Electron.Screen>('screen', {
  getAllDisplays: () => [display()],
  getPrimaryDisplay: display,
  getDisplayMatching: display,
} satisfies Partial<Electron.Screen>);

export const nativeTheme = strictEmitter<Electron.NativeTheme>('nativeTheme', {
  shouldUseDarkColors: false,
} satisfies Partial<Electron.NativeTheme>);

export const powerMonitor = strictEmitter<Electron.PowerMonitor>('powerMonitor', {});

let blockers = 0;
const started = new Set<number>();

export const powerSaveBlocker = strict<Electron.PowerSaveBlocker>('powerSaveBlocker', {
  start() {
    blockers += 1;
    started.add(blockers);
    report({ event: 'kept-awake', isOn: true });
    return blockers;
  },
  stop(id) {
    const wasStarted = started.delete(id);
    if (wasStarted) report({ event: 'kept-awake', isOn: started.size > 0 });
    return wasStarted;
  },
  isStarted: (id) => started.has(id),
} satisfies Partial<Electron.PowerSaveBlocker>);

/** Logind and macOS wait only for who prevents it. @returns whether the app may end by itself */
export function announceShutdown(): boolean {
  if (platform === 'win32') return true;
  const event = electronEvent({});
  emit(powerMonitor, 'shutdown', event);
  return event.defaultPrevented;
}
