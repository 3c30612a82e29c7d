/** Starts the desktop app from a checkout. Node 20 built-ins only. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './child.mjs';
import { nodePath, root } from './paths.mjs';

/** An app that fails sooner than this never showed its window, for example because of a missing library or display. */
const FAILED_TO_OPEN_MS = 15_000;

/** Enough for 100 MB over a slow line. A network that drops the request must not keep the server from starting. */
const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;

const electronFolder = join(root, 'node_modules', 'electron');

/** @returns {string | undefined} the binary if it is installed; downloads nothing */
export function findElectron() {
  const pathFile = join(electronFolder, 'path.txt');
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : undefined;
  // Electron's own package reads this too: a folder with another build of Electron.
  const other = process.env['ELECTRON_OVERRIDE_DIST_PATH'];
  const binary = other ? join(other, name ?? 'electron') : name && join(electronFolder, 'dist', name);
  return binary && existsSync(binary) ? binary : undefined;
}

/** @returns {string} the binary @throws where there is none */
export function requireElectron() {
  const binary = findElectron();
  if (!binary) throw new Error('Electron is not installed: run `node node_modules/electron/install.js`');
  return binary;
}

/** Electron's package downloads its binary on first use, from a server that a closed network may not reach. */
async function downloadBinary() {
  process.stderr.write('Downloading Electron …\n');
  await run(nodePath, [join(electronFolder, 'install.js')], {
    stdio: 'ignore',
    ownGroup: true,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
  });
  return findElectron();
}

/** @returns {Promise<string | undefined>} Electron's binary, downloaded if need be; undefined if it cannot be had */
export async function obtainElectron() {
  return findElectron() ?? (await downloadBinary());
}

export function hasDisplay() {
  return process.platform !== 'linux' || Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']);
}

/**
 * Opens the app and waits until it is closed.
 *
 * @param {readonly string[]} args
 * @returns {Promise<{ exitCode: number } | { obstacle: string }>} the obstacle when no window could be opened
 */
export async function runDesktopApp(args) {
  if (!hasDisplay()) return { obstacle: 'this session has no display' };
  const binary = await obtainElectron();
  if (!binary) return { obstacle: 'Electron could not be downloaded' };

  const started = Date.now();
  // Chromium exits at once if it has to sandbox a process of root.
  const sandbox = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const outcome = await run(binary, [...sandbox, '.', ...args]).catch(() => ({
    code: 1,
    interrupted: false,
  }));
  if (outcome.code !== 0 && !outcome.interrupted && Date.now() - started < FAILED_TO_OPEN_MS) {
    return { obstacle: 'it failed immediately' };
  }
  return { exitCode: outcome.code };
}
