/**
 * Installs the packages of package-lock.json if node_modules differs. Runs before anything is installed, so it uses
 * only Node built-ins and must run on Node 20.
 */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OUTPUT_TO_STDERR } from './child.mjs';
import { takeLock } from './lock.mjs';
import { isMade, makeNativePackage, nativePackages } from './native-packages.mjs';
import { createProject, installWithoutScripts, removeFolder, startPackages } from './package-subset.mjs';
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

/** npm writes it as the last step of a successful installation, so it also recognizes a manual one, unlike a stamp file. */
function installedPackages() {
  const record = join(root, 'node_modules', '.package-lock.json');
  return existsSync(record) ? lockedPackages(record) : {};
}

/** @typedef {'start' | 'all'} Extent what a start needs, or tests and packaging as well */

/** @returns {Extent | null} which packages are installed in the locked versions; null for fewer */
function presentExtent() {
  const installed = installedPackages();
  const locked = Object.entries(lockedPackages(join(root, 'package-lock.json'))).filter(
    ([path]) => path !== '',
  );
  const differs = (/** @type {[string, LockedPackage]} */ [path, { version, integrity }]) => {
    const present = installed[path];
    return present && (present.version !== version || present.integrity !== integrity);
  };
  if (locked.some(differs)) return null;
  // Optional packages are missing where they do not fit the platform.
  if (locked.every(([path, { optional }]) => optional === true || installed[path])) return 'all';
  return startPackages().every((name) => installed[`node_modules/${name}`]) ? 'start' : null;
}

/** Whether this checkout runs tests. Some of the other tools also belong to what a start needs. */
const hasTools = () => 'node_modules/vitest' in installedPackages();

/** @param {Extent} extent @param {Extent | null} present */
const isEnough = (extent, present) => present === 'all' || present === extent;

async function installStartPackages() {
  const folder = createProject('.start-packages-', startPackages());
  try {
    await installWithoutScripts(['ci'], { cwd: folder, stdio: OUTPUT_TO_STDERR });
    const target = join(root, 'node_modules');
    removeFolder(target);
    renameSync(join(folder, 'node_modules'), target);
  } finally {
    removeFolder(folder);
  }
}

/** Installs what only tests and packaging need beside what is there, which keeps what its scripts made. */
async function installTheRest() {
  // npm removes packages that it has not installed itself, such as those that the script of `node` did.
  const made = join(root, 'node_modules', 'node', 'node_modules');
  const aside = join(outFolder, '.made-by-node');
  if (existsSync(made)) {
    removeFolder(aside);
    renameSync(made, aside);
  }
  // Also by a run that was killed meanwhile.
  const isKept = existsSync(aside);
  try {
    await installWithoutScripts(['install', '--no-save', '--include=dev']);
  } finally {
    if (isKept) renameSync(aside, made);
  }
}

/**
 * Scripts do not run: those that are needed run beside this.
 *
 * @param {Extent} extent
 * @param {Extent | null} present
 */
async function installPackages(extent, present) {
  if (present !== null) return installTheRest();
  if (extent === 'start' && !hasTools()) return installStartPackages();
  // NODE_ENV=production would leave out the runtime and the build tools.
  return installWithoutScripts(['ci', '--include=dev']);
}

/** @param {Extent} extent @param {Extent | null} present */
const isInstalled = (extent, present) => nativePackages.every(isMade) && isEnough(extent, present);

/**
 * Installs what is missing, until the tools can run.
 *
 * @param {Extent} [extent]
 * @returns {Promise<{ driver: Promise<void> }>} settles when the SQLite driver is installed, too: only the server needs it
 * @throws an error with a one-line reason, as `driver` does
 */
export async function installTools(extent = 'all') {
  const nothingToDo = { driver: Promise.resolve() };
  if (isInstalled(extent, presentExtent())) return nothingToDo;
  const release = await takeLock(lockFile, (holder) => {
    process.stderr.write(`Waiting for process ${holder}, which is installing (${lockFile}) …\n`);
  });
  // Another command may have installed it meanwhile.
  const present = presentExtent();
  if (isInstalled(extent, present)) {
    release();
    return nothingToDo;
  }

  process.stderr.write('Installing dependencies (the first time takes a minute or two) …\n');
  const make = async (/** @type {import('./native-packages.mjs').NativePackage} */ name) =>
    present === null || !isMade(name) ? makeNativePackage(name) : null;
  const packages = isEnough(extent, present) ? Promise.resolve() : installPackages(extent, present);
  const [node, compiled] = [make('node'), make('sqlite3')];
  const tools = Promise.all([node, packages]).then(([made]) => made?.move());
  const driver = Promise.all([compiled, tools])
    .then(([made]) => made?.move())
    .finally(async () => {
      await Promise.allSettled([packages]);
      for (const made of await Promise.allSettled([node, compiled]))
        if (made.status === 'fulfilled') made.value?.remove();
      release();
    });
  // If the tools fail, so does this, and no caller gets it. The message comes when nothing runs any more.
  driver.catch(() => {});
  await tools.catch(() => driver);
  return { driver };
}

/** Installs what is missing, for everything. Throws an error with a one-line reason. */
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
