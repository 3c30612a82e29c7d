/** `npm run build`. With `--if-stale`, builds only if a source has changed. Node 20 built-ins only. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installTools } from './bootstrap.mjs';
import { OUTPUT_TO_STDERR, run, untilAllEnd } from './child.mjs';
import { takeLock } from './lock.mjs';
import { builtCli, builtManualPage, nodePath, outFolder, root } from './paths.mjs';
import { writeThirdPartyLicenses } from './third-party.mjs';

export const sourceFolders = ['cli', 'electron', 'renderer', 'server', 'verifier'];
export const configFiles = [
  'electron.vite.config.ts',
  'package-lock.json',
  'package.json',
  'scripts/bundled-packages.mjs',
  'scripts/compact-bundles.mjs',
  'scripts/compile-early.mjs',
  'scripts/contract-manifest.mjs',
  'scripts/page-chunks.mjs',
  'scripts/page-texts.mjs',
  'scripts/preload-page.mjs',
  'scripts/third-party.mjs',
  'tsconfig.json',
];

const stampFile = join(outFolder, '.build-stamp');
const lockFile = join(outFolder, '.build-lock');

/**
 * A hash over everything that the build reads. Uses contents, because checkouts and branch switches change modification
 * times.
 */
function fingerprint() {
  const hash = createHash('sha256');
  const sources = sourceFolders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    // Editors keep swap files next to the source.
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of [...sources, ...configFiles.map((name) => join(root, name))].toSorted()) {
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

const isFresh = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === fingerprint();

/**
 * Prevents concurrent builds into the same folder.
 *
 * @param {() => Promise<void>} work
 */
async function withBuildLock(work) {
  const release = await takeLock(lockFile);
  try {
    await work();
  } finally {
    release();
  }
}

function writeManualPage() {
  writeFileSync(builtManualPage, execFileSync(nodePath, [builtCli, 'manual']));
}

/**
 * Builds everything. Messages go to stderr, because stdout belongs to the calling command. Throws if the build fails.
 */
async function build() {
  // Taken first, so that a source saved during the build makes the result stale.
  const stamp = fingerprint();
  rmSync(stampFile, { force: true });
  const { code } = await run('electron-vite', ['build', '--logLevel', 'warn'], {
    stdio: OUTPUT_TO_STDERR,
    shell: process.platform === 'win32',
  });
  if (code !== 0) throw new Error(`the build failed with exit code ${code}; its messages are above`);
  writeThirdPartyLicenses();
  writeManualPage();
  writeFileSync(stampFile, stamp);
}

/** Builds unless `out/` is up to date. */
export async function buildIfStale() {
  if (isFresh()) return;
  await withBuildLock(async () => {
    if (isFresh()) return;
    process.stderr.write('Building …\n');
    await build();
  });
}

/**
 * Installs what a start lacks and builds. The SQLite driver is compiled meanwhile, because a build does not need it.
 *
 * @param {() => Promise<void>} [work]
 */
export async function installAndBuild(work = buildIfStale) {
  const { driver } = await installTools('start');
  await untilAllEnd([driver, work()]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await installAndBuild(process.argv.includes('--if-stale') ? buildIfStale : () => withBuildLock(build));
  } catch (error) {
    process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
    process.exitCode = 1;
  }
}
