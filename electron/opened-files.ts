// License files and activation requests that were opened with the app: by double click, command line or menu.
import { readFileSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { app, dialog } from 'electron';
import type { OpenedFile } from './bridge.ts';
import { texts } from './texts.ts';

const KINDS: Readonly<Record<string, OpenedFile['kind']>> = { '.req': 'request', '.lic': 'license' };
/** Larger than a license file with a thousand entitlements. */
const MAX_BYTES = 256 * 1024;

const kindOf = (path: string) => KINDS[extname(path).toLowerCase()];

export interface OpenedFiles {
  /** @returns the file that waits for the page; each file is returned once */
  take(): OpenedFile | null;
  /** Opens a file from a command line, for example that of a second start. @returns whether there was one */
  openFrom(argv: readonly string[], workingDirectory: string): boolean;
  /** Lets the administrator choose one. */
  choose(): Promise<void>;
}

/**
 * Linux desktops pass files as percent-encoded URLs: electron-builder writes `%U` (desktop entry specification).
 * @returns null for a URL that names no local file
 */
function pathOf(argument: string, workingDirectory: string): string | null {
  if (!/^file:/iu.test(argument)) return resolve(workingDirectory, argument);
  try {
    return fileURLToPath(argument);
  } catch {
    return null;
  }
}

function read(path: string, kind: OpenedFile['kind']): OpenedFile {
  const stats = statSync(path);
  // Reading a pipe or a device may never end, and the app would hang with it.
  if (!stats.isFile()) throw new Error(texts().notAFile);
  if (stats.size > MAX_BYTES) throw new Error(texts().tooLarge);
  return { name: basename(path), kind, text: readFileSync(path, 'utf8') };
}

/** @param onOpened called when a file waits to be taken */
export function setUpOpenedFiles(onOpened: () => void): OpenedFiles {
  let waiting: OpenedFile | null = null;

  function open(path: string): boolean {
    const kind = kindOf(path);
    if (!kind) return false;
    try {
      waiting = read(path, kind);
      onOpened();
    } catch (error) {
      dialog.showErrorBox(texts().cannotOpen(basename(path)), (error as Error).message);
    }
    return true;
  }

  // macOS. It may arrive before the app is ready.
  app.on('open-file', (event, path) => {
    event.preventDefault();
    void app.whenReady().then(() => open(path));
  });

  return {
    take() {
      const file = waiting;
      waiting = null;
      return file;
    },
    openFrom(argv, workingDirectory) {
      const path = argv
        .filter((argument) => !argument.startsWith('-'))
        .map((argument) => pathOf(argument, workingDirectory))
        .findLast((one) => one !== null && kindOf(one) !== undefined);
      return typeof path === 'string' && open(path);
    },
    async choose() {
      const { kinds } = texts();
      const { filePaths } = await dialog.showOpenDialog({
        properties: ['openFile'],
        filters: [
          { name: kinds.any, extensions: ['req', 'lic'] },
          { name: kinds.request, extensions: ['req'] },
          { name: kinds.license, extensions: ['lic'] },
        ],
      });
      const [path] = filePaths;
      if (path) open(path);
    },
  };
}
