// License files and activation requests that are opened with the app: by a double click, a command line, or its menu.
import { readFileSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { app, dialog } from 'electron';
import type { OpenedFile } from './bridge.ts';
import { texts } from './texts.ts';

const KINDS: Readonly<Record<string, OpenedFile['kind']>> = { '.req': 'request', '.lic': 'license' };
/** A license file with a thousand features stays below that. */
const MOST_BYTES = 256 * 1024;

const kindOf = (path: string) => KINDS[extname(path).toLowerCase()];

export interface OpenedFiles {
  /** The file that waits, which then waits no more. */
  take(): OpenedFile | null;
  /** From a command line, such as a second start's. @returns whether there was one */
  openFrom(argv: readonly string[], workingDirectory: string): boolean;
  /** Lets the administrator choose one. */
  choose(): Promise<void>;
}

function read(path: string, kind: OpenedFile['kind']): OpenedFile {
  if (statSync(path).size > MOST_BYTES) throw new Error(texts().tooLarge);
  return { name: basename(path), kind, text: readFileSync(path, 'utf8') };
}

/** @param onOpened a file waits to be taken */
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

  // macOS; may come before the app is ready.
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
      const path = argv.findLast((argument) => !argument.startsWith('-') && kindOf(argument) !== undefined);
      return path !== undefined && open(resolve(workingDirectory, path));
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
