/** The desktop app from a checkout. Node 20 built-ins only. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './child.mjs';
import { nodePath, root } from './paths.mjs';

/** A shell that ends with an error this soon never showed its window: a missing library, a display that refuses. */
const FAILED_TO_OPEN_MS = 15_000;

/** Long enough for 100 MB over a slow line; a network that drops the request must not keep the server from starting. */
const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;

const electronFolder = join(root, 'node_modules', 'electron');

/** @returns {string | undefined} the binary; without one, nothing is downloaded */
export function findElectron() {
  const pathFile = join(electronFolder, 'path.txt');
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : undefined;
  // As Electron's own package reads it: a folder with another build of Electron.
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

/** Electron's package brings its binary on first use, from a place that a closed network does not reach. */
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
  // Chromium refuses to sandbox for root, and would only say so and leave.
  const sandbox = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const outcome = await run(binary, [...sandbox, '.', ...args]).catch(() => ({
    code: 1,
    interrupted: false,
  }));
  if (outcome.code !== 0 && !outcome.interrupted && Date.now() - started < FAILED_TO_OPEN_MS) {
    return { obstacle: 'it ended with an error at once' };
  }
  return { exitCode: outcome.code };
}
