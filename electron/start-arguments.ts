// The command line of this start. Some starts cannot carry arguments: macOS at login, and an app that an update started.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { serverArguments, type ServerFlags, serverFlags } from './server-arguments.ts';

/** Keeps the window closed. The tray and a second start open it. */
export const HIDDEN_FLAG = '--hidden';
/** Asks the running app to quit. */
export const QUIT_FLAG = '--quit';

/** If an installer takes longer than this, it did not start the app. */
const UPDATE_VALID_MS = 10 * 60_000;

/** Outside the data directory, because its location is part of what is stored. */
const folder = () => join(app.getPath('appData'), 'License Desk');
const atLogin = () => join(folder(), 'start-at-login.json');
const afterUpdate = () => join(folder(), 'start-after-update.json');

function write(path: string, args: readonly string[]): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  writeJsonFile(path, { args, at: Date.now() });
}

/** @returns the arguments kept in this file, unless they are older */
function read(path: string, maxAgeMs: number): string[] {
  const { args, at } = readJsonFile(path);
  const isValid = typeof at === 'number' && Date.now() - at < maxAgeMs;
  return isValid && Array.isArray(args) ? args.filter((one) => typeof one === 'string') : [];
}

/** What a start without a window needs: the server's flags, and `--hidden`. Also what the login item gets. */
export const hiddenStart = (flags: ServerFlags): string[] => [...serverArguments(flags), HIDDEN_FLAG];

/** @throws what the file system throws */
export function rememberForLogin(flags: ServerFlags | null): void {
  if (flags) write(atLogin(), serverArguments(flags));
  else rmSync(atLogin(), { force: true });
}

/**
 * Makes the app that the installer starts serve the same data directory, without a window.
 * @param flags `lastingFlags`
 */
export function rememberForUpdate(flags: ServerFlags): void {
  write(afterUpdate(), hiddenStart(flags));
}

/** The update is not installed, so the next start is an ordinary one. */
export function forgetForUpdate(): void {
  rmSync(afterUpdate(), { force: true });
}

/**
 * Call it once: what was remembered for an update applies to one start.
 * @param argv as in `process.argv`
 */
export function startArguments(argv: readonly string[]): string[] {
  // It starts nothing, and must not use up what was remembered.
  if (argv.includes(QUIT_FLAG)) return [...argv];
  const hasFlags = Object.keys(serverFlags(argv)).length > 0;
  const updated = read(afterUpdate(), UPDATE_VALID_MS);
  forgetForUpdate();
  if (updated.length > 0) return [...argv, ...(hasFlags ? [HIDDEN_FLAG] : updated)];
  const isBareMac = process.platform === 'darwin' && !hasFlags;
  return isBareMac ? [...argv, ...read(atLogin(), Number.POSITIVE_INFINITY)] : [...argv];
}
