/**
 * Installs the packages of package-lock.json if node_modules differs. Runs before anything is installed, so it uses
 * only Node
 * built-ins and must run on Node 20.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OUTPUT_TO_STDERR, run } from './child.mjs';
import { ensureCommands, isMissing } from './debian-packages.mjs';
import { nodePath, root } from './paths.mjs';

/** Needed to compile the SQLite driver where no prebuilt binary is available. */
const COMPILER = { 'g++': ['g++'], make: ['make'], python3: ['python3'] };

/**
 * SQLite is one large file, whose compilation takes most of an installation: with -O2, a quarter less than with the
 * driver's -O3, and it runs no slower. Its other files are compiled beside it.
 */
const COMPILING = { JOBS: process.env['JOBS'] ?? 'max', CFLAGS: process.env['CFLAGS'] ?? '-O2' };

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, link?: boolean }} LockedPackage */

/**
 * @param {string} file
 * @returns {Record<string, LockedPackage>}
 */
function lockedPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

/**
 * npm writes a record of the installed packages as the last step of a successful install. Comparing it with the
 * lockfile also
 * recognizes a manual install, unlike a stamp file.
 */
function isInstalled() {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record) || !existsSync(nodePath)) return false;
  const installed = lockedPackages(record);
  return Object.entries(lockedPackages(join(root, 'package-lock.json'))).every(([path, locked]) => {
    if (path === '') return true;
    const present = installed[path];
    // Optional packages are missing where they do not fit the platform.
    if (!present) return locked.optional === true;
    return present.version === locked.version && present.integrity === locked.integrity;
  });
}

async function npmCi() {
  const npm = process.env['npm_execpath'] ?? '';
  // --include=dev, because NODE_ENV=production would leave out the runtime and the build tools. Only errors, because
  // under Node 20 npm warns about every package that requires a later version; they run on the installed Node.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const options = { stdio: OUTPUT_TO_STDERR, env: COMPILING };
  return npm.endsWith('npm-cli.js')
    ? run(process.execPath, [npm, ...args], options)
    : run('npm', args, { ...options, shell: process.platform === 'win32' });
}

/** Installs what is missing. Throws an error with a one-line reason. */
export async function install() {
  if (isInstalled()) return;
  process.stderr.write('Installing dependencies (the first time takes a few minutes) …\n');
  let outcome = await npmCi();
  // A compiler is installed only after a failure, because most platforms do not need one.
  const missing = Object.keys(COMPILER).filter(isMissing);
  if (outcome.code !== 0 && missing.length > 0) {
    const stillMissing = await ensureCommands(COMPILER);
    if (stillMissing.length > 0)
      throw new Error(`npm ci failed, and this machine has no ${stillMissing.join(', ')}`);
    outcome = await npmCi();
  }
  if (outcome.code !== 0)
    throw new Error(`npm ci failed with exit code ${outcome.code}; its messages are above`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await install().catch((/** @type {Error} */ error) => {
    process.stderr.write(`Installing failed: ${error.message}\n`);
    process.exitCode = 1;
  });
}
