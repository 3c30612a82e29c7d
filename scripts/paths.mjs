/** Paths for all scripts. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The Node that the product runs on. It is a dependency, so the machine's version does not matter. */
export const nodePath = join(
  root,
  'node_modules',
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
);

/** What commands make in this checkout, except packages. */
export const outFolder = join(root, 'out');

export const builtCli = join(outFolder, 'main', 'cli.js');

/** The manual page, generated from the help of every command. Packages ship it as license-desk(1). */
export const builtManualPage = join(outFolder, 'license-desk.1');

/** Runs the built program. SIGUSR1 does not open Node's debugger (server/platform/refuse-debugger.ts). */
export const cliArguments = ['--disable-sigusr1', builtCli];

/** With which packages start the server, too (packaging/server/license-desk): the C library then keeps less memory. */
export const serverEnvironment = {
  MALLOC_ARENA_MAX: process.env['MALLOC_ARENA_MAX'] ?? '2',
  MALLOC_TRIM_THRESHOLD_: process.env['MALLOC_TRIM_THRESHOLD_'] ?? '262144',
};

/** The page that the admin listener serves. */
export const builtPage = join(outFolder, 'renderer');

const toolFolder = join(root, 'node_modules', '.bin');

/** An environment in which `node` and the tools are the installed ones. */
export function toolEnvironment() {
  const path = process.env['PATH'] ?? '';
  return { ...process.env, PATH: path.startsWith(toolFolder) ? path : `${toolFolder}${delimiter}${path}` };
}

/**
 * @param {string} command
 * @returns {string | undefined} the file behind a command on PATH
 */
export function findOnPath(command) {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, command))
    .find((file) => existsSync(file));
}
