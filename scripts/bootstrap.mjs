/**
 * Installs the packages of package-lock.json if node_modules differs. Runs before anything is installed, so it uses
 * only Node built-ins and must run on Node 20.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OUTPUT_TO_STDERR } from './child.mjs';
import { takeLock } from './lock.mjs';
import { installNativePackages, isMade, nativePackages, npm } from './native-packages.mjs';
import { outFolder, root } from './paths.mjs';

const lockFile = join(outFolder, '.install-lock');

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
 * lockfile also recognizes a manual install, unlike a stamp file.
 */
function hasPackages() {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = lockedPackages(record);
  return Object.entries(lockedPackages(join(root, 'package-lock.json'))).every(([path, locked]) => {
    if (path === '') return true;
    const present = installed[path];
    // Optional packages are missing where they do not fit the platform.
    if (!present) return locked.optional === true;
    return present.version === locked.version && present.integrity === locked.integrity;
  });
}

const isInstalled = () => nativePackages.every(isMade) && hasPackages();

/** Scripts do not run: those that are needed run beside this. */
async function installPackages() {
  // --include=dev, because NODE_ENV=production would leave out the runtime and the build tools.
  const words = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'];
  const { code } = await npm(words, { stdio: OUTPUT_TO_STDERR });
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}; its messages are above`);
}

/**
 * Installs what is missing, until the tools can run.
 *
 * @returns {Promise<{ driver: Promise<void> }>} settles when the SQLite driver is installed, too: only the server needs it
 * @throws an error with a one-line reason, as `driver` does
 */
export async function installTools() {
  const nothingToDo = { driver: Promise.resolve() };
  if (isInstalled()) return nothingToDo;
  const release = await takeLock(lockFile, (holder) => {
    process.stderr.write(`Waiting for process ${holder}, which is installing (${lockFile}) …\n`);
  });
  if (isInstalled()) {
    release();
    return nothingToDo;
  }

  process.stderr.write('Installing dependencies (the first time takes a minute or two) …\n');
  const isComplete = hasPackages();
  const isNeeded = (/** @type {import('./native-packages.mjs').NativePackage} */ name) =>
    !isComplete || !isMade(name);
  const [needsNode, needsDriver] = [isNeeded('node'), isNeeded('sqlite3')];
  const packages = isComplete ? Promise.resolve() : installPackages();
  const native = installNativePackages();
  const node = native.then(({ make }) => (needsNode ? make('node') : undefined));
  const compiled = Promise.all([native, node]).then(([{ make }]) =>
    needsDriver ? make('sqlite3') : undefined,
  );
  const tools = Promise.all([native, packages, node]).then(([{ move }]) =>
    needsNode ? move('node') : undefined,
  );
  const driver = Promise.all([native, tools, compiled])
    .then(([{ move }]) => (needsDriver ? move('sqlite3') : undefined))
    .finally(async () => {
      await Promise.allSettled([packages, compiled]);
      await native.then(({ remove }) => remove()).catch(() => {});
      release();
    });
  // If the tools fail, so does this, and no caller gets it. The message comes when nothing runs any more.
  driver.catch(() => {});
  await tools.catch(() => driver);
  return { driver };
}

/** Installs what is missing. Throws an error with a one-line reason. */
export async function install() {
  const { driver } = await installTools();
  await driver;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await install().catch((/** @type {Error} */ error) => {
    process.stderr.write(`Installing failed: ${error.message}\n`);
    process.exitCode = 1;
  });
}
