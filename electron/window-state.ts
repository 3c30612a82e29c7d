// Keeps the position and size of the window for the next start.
import { join } from 'node:path';
import { app, type BrowserWindow, type Display, type Rectangle, screen, type Size } from 'electron';
import { readJsonFile, writeJsonFile } from './json-file.ts';

const DEFAULT_SIZE = { width: 1440, height: 900 };
/** Pixels of the title bar that must be on a screen, so that the window can be moved. */
const REACHABLE = 48;

export interface WindowState {
  /** For a new window, no larger than its screen. Without a position if that would be off screen. */
  options(): Partial<Rectangle>;
  /** Maximizes the window if it was. To be called when it is about to be shown: maximizing shows a hidden window. */
  restore(window: BrowserWindow): void;
  /** Remembers position and size when the window closes. */
  follow(window: BrowserWindow): void;
}

function isRectangle(value: Record<string, unknown>): value is Record<string, unknown> & Rectangle {
  return ['x', 'y', 'width', 'height'].every((name) => Number.isInteger(value[name]));
}

/** The screen may be gone since. */
function isReachable({ x, y, width }: Rectangle): boolean {
  return screen.getAllDisplays().some(({ workArea }) => {
    const overlap = Math.min(x + width, workArea.x + workArea.width) - Math.max(x, workArea.x);
    return overlap >= REACHABLE && y >= workArea.y && y <= workArea.y + workArea.height - REACHABLE;
  });
}

/** The screen may be smaller than the one of last time, or than a new window. */
function fit({ width, height }: Size, { workArea }: Display): Size {
  return { width: Math.min(width, workArea.width), height: Math.min(height, workArea.height) };
}

/** A window that had to be made smaller begins at the edge of its screen. */
function fitInPlace(kept: Rectangle): Rectangle {
  const display = screen.getDisplayMatching(kept);
  const size = fit(kept, display);
  return {
    ...size,
    x: size.width < kept.width ? display.workArea.x : kept.x,
    y: size.height < kept.height ? display.workArea.y : kept.y,
  };
}

export function setUpWindowState(): WindowState {
  const path = join(app.getPath('userData'), 'window-state.json');
  const kept = readJsonFile(path);

  return {
    options() {
      if (!isRectangle(kept)) return fit(DEFAULT_SIZE, screen.getPrimaryDisplay());
      if (!isReachable(kept)) return fit(kept, screen.getPrimaryDisplay());
      return fitInPlace(kept);
    },
    restore(window) {
      if (kept['maximized'] === true) window.maximize();
    },
    follow(window) {
      window.on('close', () => {
        // As if it were neither maximized nor in full screen.
        Object.assign(kept, window.getNormalBounds(), { maximized: window.isMaximized() });
        try {
          writeJsonFile(path, kept);
        } catch {
          // A full disk must not keep the window open.
        }
      });
    },
  };
}
