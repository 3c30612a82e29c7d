/** The server and the CLI without Electron: the files of the packaged app, with their own copy of Node. */
import { chmodSync, copyFileSync, cpSync, existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { run } from './child.mjs';
import { builtManualPage, nodePath, root } from './paths.mjs';
import { SBOM_FILE, writeSbom } from './sbom.mjs';
import { LICENSES_FILE } from './third-party.mjs';

/** Marks the position of the fuses in an Electron binary: version, count, and one digit each. */
const FUSE_SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
/** The defaults of Electron's own builds (build/fuses/fuses.json5), so that a test notices a fuse that is not set. */
const FUSES = [1, 9, ...Buffer.from('101100011')];

/**
 * Replaces Electron where only the app's own files are needed. They are the same with the real one.
 *
 * @param {string} folder
 */
function writeElectronStandIn(folder) {
  mkdirSync(join(folder, 'locales'), { recursive: true });
  for (const language of ['en-US', 'de', 'fr']) writeFileSync(join(folder, 'locales', `${language}.pak`), '');
  writeFileSync(join(folder, 'electron'), Buffer.concat([Buffer.from(FUSE_SENTINEL), Buffer.from(FUSES)]));
}

/**
 * A shell on Windows would split a path with spaces.
 *
 * @param {string} word
 */
const shellWord = (word) => (process.platform === 'win32' ? `"${word}"` : word);

/**
 * Packs the built app without Electron. Only the native file depends on the platform, and it is the one
 * which npm installed.
 *
 * @param {string} folder an empty one
 * @param {readonly string[]} [further] arguments of electron-builder
 * @returns {Promise<string>} the folder of the packed app
 */
export async function packWithoutElectron(folder, further = []) {
  await writeSbom();
  const standIn = join(folder, 'electron');
  writeElectronStandIn(standIn);
  let said = '';
  const { code } = await run(
    'electron-builder',
    [
      '--linux',
      '--dir',
      `--${process.arch}`,
      '--publish=never',
      shellWord(`-c.directories.output=${folder}`),
      shellWord(`-c.electronDist=${standIn}`),
      ...further,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
      onSpawn: ({ stdout, stderr }) => {
        for (const stream of [stdout, stderr]) stream?.on('data', (chunk) => (said += chunk));
      },
    },
  );
  const archive = globSync('linux*-unpacked/resources/app.asar', { cwd: folder })[0];
  if (code !== 0 || !archive) throw new Error(`electron-builder failed with exit code ${code}: ${said}`);
  return dirname(dirname(join(folder, archive)));
}

/**
 * @param {string} app what `packWithoutElectron` returned
 * @param {string} folder where the server is put together
 */
export async function assembleServer(app, folder) {
  // Available only after the packages are installed, which package.mjs ensures.
  const { extractAll } = await import('@electron/asar');
  extractAll(join(app, 'resources', 'app.asar'), folder);
  const windows = process.platform === 'win32';
  const launcher = windows ? 'license-desk.cmd' : 'license-desk';
  const extras = process.platform === 'linux' ? ['nginx.conf'] : [];
  for (const file of [launcher, ...extras]) {
    copyFileSync(join(root, 'packaging', 'server', file), join(folder, file));
  }
  cpSync(join(root, 'docs', 'installing.md'), join(folder, 'INSTALLING.md'));
  for (const file of [LICENSES_FILE, SBOM_FILE, builtManualPage])
    copyFileSync(file, join(folder, basename(file)));
  const node = join(folder, basename(nodePath));
  copyFileSync(nodePath, node);
  if (!windows) for (const program of [node, join(folder, launcher)]) chmodSync(program, 0o755);

  const license = globSync('node_modules/node/node_modules/node-*/LICENSE', { cwd: root })[0];
  if (license) copyFileSync(join(root, license), join(folder, 'LICENSE.node'));
  return { hasNodeLicense: license !== undefined };
}

/**
 * @param {string} folder its name is the one that is unpacked
 * @param {string} file `….tar.gz`
 */
export async function archiveServer(folder, file) {
  // GNU tar, which Git installs on Windows, interprets the drive in a path as a host name.
  const tar = join(process.env['SystemRoot'] ?? String.raw`C:\Windows`, 'System32', 'tar.exe');
  const { code } = await run(process.platform === 'win32' ? tar : 'tar', [
    '-czf',
    file,
    '-C',
    dirname(folder),
    basename(folder),
  ]);
  if (code !== 0 || !existsSync(file)) throw new Error(`tar failed with exit code ${code}`);
}
