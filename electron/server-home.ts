// Where the server runs: in this app, or as a service of the computer that the app connects to.
import { join } from 'node:path';
import { app } from 'electron';
import { readJsonFile, writeJsonFile } from './json-file.ts';

export type ServerHome = 'app' | 'service';

const path = () => join(app.getPath('userData'), 'server-home.json');

/** @returns null until it was chosen */
export function readServerHome(): ServerHome | null {
  const { home } = readJsonFile(path());
  return home === 'app' || home === 'service' ? home : null;
}

export function rememberServerHome(home: ServerHome): void {
  writeJsonFile(path(), { home });
}
