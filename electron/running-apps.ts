// The data directories on which an app of this user is open, so that one `--quit` reaches all of them.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { QUIT_FLAG } from './start-arguments.ts';

/** Outside the data directories, which are what is looked for. */
const folder = () => join(app.getPath('appData'), 'License Desk', 'running');

function fileOf(dataDir: string): string {
  return join(folder(), `${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}.json`);
}

/** Until the app ends. An entry that a crash leaves behind is removed when it is asked to quit. */
export function recordRunning(dataDir: string): void {
  const file = fileOf(dataDir);
  try {
    mkdirSync(folder(), { recursive: true, mode: 0o700 });
    writeJsonFile(file, { data_dir: dataDir });
  } catch {
    // A full disk must not keep the app from starting. `--quit` with the data directory still reaches it.
    return;
  }
  app.once('quit', () => rmSync(file, { force: true }));
}

function recordedDirectories(): string[] {
  try {
    const found = readdirSync(folder()).map((name) => readJsonFile(join(folder(), name))['data_dir']);
    return found.filter((dataDir) => typeof dataDir === 'string');
  } catch {
    return [];
  }
}

/** An instance belongs to one data directory, so each running app needs a separate start with --quit. */
export function quitOthers(dataDir: string): void {
  // An app from a checkout is an argument of Electron.
  const own = app.isPackaged ? [] : [app.getAppPath()];
  for (const other of recordedDirectories()) {
    if (other === dataDir) continue;
    rmSync(fileOf(other), { force: true });
    const words = [...own, QUIT_FLAG, `--data-dir=${other}`];
    const child = spawn(process.execPath, words, { detached: true, stdio: 'ignore' });
    child.on('error', () => {});
    child.unref();
  }
}
