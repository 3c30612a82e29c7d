// Where the window was and how large, kept for the next start.
import { join } from 'node:path';
import { app, type BrowserWindow, type Rectangle, screen } from 'electron';
import { readJsonFile, writeJsonFile } from './json-file.ts';

const DEFAULT_SIZE = { width: 1440, height: 900 };
/** So much of the title bar has to be on a screen that the window can be moved. */
const REACHABLE = 48;

export interface WindowState {
  /** For a window that is made; without a place where that would be on no screen. */
  options(): Partial<Rectangle>;
  /** Brings the window back to what it was, and keeps what becomes of it. */
  follow(window: BrowserWindow): void;
}

function isRectangle(value: Record<string, unknown>): value is Record<string, unknown> & Rectangle {
  return ['x', 'y', 'width', 'height'].every((name) => Number.isInteger(value[name]));
}

/** Screens come and go. */
function isReachable({ x, y, width }: Rectangle): boolean {
  return screen.getAllDisplays().some(({ workArea }) => {
    const overlap = Math.min(x + width, workArea.x + workArea.width) - Math.max(x, workArea.x);
    return overlap >= REACHABLE && y >= workArea.y && y <= workArea.y + workArea.height - REACHABLE;
  });
}

export function setUpWindowState(): WindowState {
  const path = join(app.getPath('userData'), 'window-state.json');
  const kept = readJsonFile(path);

  return {
    options() {
      if (!isRectangle(kept)) return DEFAULT_SIZE;
      const { x, y, width, height } = kept;
      return isReachable(kept) ? { x, y, width, height } : { width, height };
    },
    follow(window) {
      if (kept['maximized'] === true) window.maximize();
      window.on('close', () => {
        // What it would be if it were neither maximized nor in full screen.
        Object.assign(kept, window.getNormalBounds(), { maximized: window.isMaximized() });
        try {
          writeJsonFile(path, kept);
        } catch {
          // A full disk must not keep a window from closing.
        }
      });
    },
  };
}
