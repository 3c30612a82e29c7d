/**
 * The two packages whose install scripts make something: `node` fetches Node, and `sqlite3` compiles SQLite where no
 * prebuilt binary is available, which takes longer than all the rest. Each is therefore installed beside the others, in a
 * folder with the same lockfile, and what its script made is moved from there into node_modules. Node 20 built-ins only.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureCommands, isMissing } from './debian-packages.mjs';
import { createProject, installWithoutScripts, npm, removeFolder } from './package-subset.mjs';
import { nodePath, root } from './paths.mjs';

/** Needed to compile the SQLite driver where no prebuilt binary is available. */
const COMPILER = { 'g++': ['g++'], make: ['make'], python3: ['python3'] };

/**
 * SQLite is one large file, whose compilation takes most of an installation: with -O2, a quarter less than with the
 * driver's -O3, and it runs no slower; without the search for warnings, another quarter less. Its other
 * files are compiled beside it.
 */
const COMPILING = { JOBS: process.env['JOBS'] ?? 'max', CFLAGS: process.env['CFLAGS'] ?? '-O2 -w' };

/** What the scripts make, and the part of node_modules that it is moved with. */
const MADE = {
  node: { file: nodePath, part: 'node' },
  sqlite3: {
    file: join(root, 'node_modules', 'sqlite3', 'build', 'Release', 'node_sqlite3.node'),
    // Not the whole package: a build that runs meanwhile reads its license.
    part: join('sqlite3', 'build'),
  },
};

/** @typedef {keyof typeof MADE} NativePackage */

export const nativePackages = /** @type {NativePackage[]} */ (Object.keys(MADE));

/** @param {NativePackage} name */
export const isMade = (name) => existsSync(MADE[name].file);

/** npm links a program only if it exists, so the installation without scripts did not. */
function moveNodeLinks(/** @type {string} */ folder) {
  const from = join(folder, 'node_modules', '.bin');
  const to = join(root, 'node_modules', '.bin');
  // The last two are Windows' own.
  for (const name of ['node', 'node.cmd', 'node.ps1']) {
    if (!readdirSync(from).includes(name)) continue;
    rmSync(join(to, name), { force: true });
    renameSync(join(from, name), join(to, name));
  }
}

/** @typedef {{ move: () => void, remove: () => void }} Made puts it in its place, and removes the folder that it was made in */

/**
 * Installs one of the packages beside the others, and runs its install script.
 *
 * @param {NativePackage} name
 * @returns {Promise<Made>}
 */
export async function makeNativePackage(name) {
  const folder = createProject(`.native-${name}-`, [name]);
  /** @type {import('./child.mjs').Options} */
  const options = {
    cwd: folder,
    stdio: ['ignore', 'ignore', 2],
    env: COMPILING,
    // An interrupted npm can leave a compiler behind.
    ownGroup: true,
  };
  try {
    await installWithoutScripts(['ci'], options);
    await runInstallScript(name, options);
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
  return {
    move() {
      const { part } = MADE[name];
      const target = join(root, 'node_modules', part);
      removeFolder(target);
      renameSync(join(folder, 'node_modules', part), target);
      if (name === 'node') moveNodeLinks(folder);
      if (!isMade(name)) throw new Error(`the install script of ${name} did not make ${MADE[name].file}`);
    },
    remove: () => removeFolder(folder),
  };
}

/**
 * @param {NativePackage} name
 * @param {import('./child.mjs').Options} options
 */
async function runInstallScript(name, options) {
  let outcome = await npm(['rebuild', name], options);
  // A compiler is installed only after a failure, because most platforms do not need one.
  const missing = name === 'sqlite3' ? Object.keys(COMPILER).filter(isMissing) : [];
  if (outcome.code !== 0 && !outcome.interrupted && missing.length > 0) {
    const stillMissing = await ensureCommands(COMPILER);
    if (stillMissing.length > 0)
      throw new Error(
        `the SQLite driver must be compiled, and this machine has no ${stillMissing.join(', ')}`,
      );
    outcome = await npm(['rebuild', name], options);
  }
  if (outcome.code !== 0)
    throw new Error(`npm rebuild ${name} failed with exit code ${outcome.code}; its messages are above`);
}
