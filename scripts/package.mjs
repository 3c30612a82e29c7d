/**
 * `npm run package`: builds the installers of the desktop app for this platform if Electron can be downloaded, and the
 * server package, into dist/. `-- --server` builds only the latter. `-- --release` fails if an installer
 * would not be signed. LICENSE_DESK_UPDATE_KEY signs updates (scripts/sign-update.mjs).
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from './bootstrap.mjs';
import { buildIfStale } from './build.mjs';
import { run } from './child.mjs';
import { obtainElectron } from './desktop-app.mjs';
import { findOnPath, root } from './paths.mjs';
import { SBOM_FILE } from './sbom.mjs';
import { packageServerForDebian } from './server-deb.mjs';
import { archiveServer, assembleServer, packWithoutElectron } from './server-package.mjs';
import { pinnedKeyArguments, signManifests, updateKey } from './sign-update.mjs';

const output = join(root, 'dist');

async function packageServer() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const name = `license-desk-server-${version}`;
  const file = join(output, `${name}-${process.platform}-${process.arch}.tar.gz`);
  const work = mkdtempSync(join(tmpdir(), 'license-desk-package-'));
  try {
    const folder = join(work, name);
    const { hasNodeLicense } = await assembleServer(await packWithoutElectron(work), folder);
    mkdirSync(output, { recursive: true });
    copyFileSync(SBOM_FILE, join(output, `license-desk-${version}.cdx.json`));
    await archiveServer(folder, file);
    process.stdout.write(`${file}\n`);
    if (process.platform === 'linux' && findOnPath('dpkg-deb')) {
      process.stdout.write(`${await packageServerForDebian(folder, work, version, output)}\n`);
    }
    if (!hasNodeLicense) {
      process.stderr.write('The package lacks Node’s license text. Run `npm ci` to restore it.\n');
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function packageApp() {
  if (!(await obtainElectron())) {
    process.stderr.write('No installers of the desktop app: Electron could not be downloaded.\n');
    return;
  }
  const key = updateKey(process.env);
  // electron-builder skips signing and notarization without a certificate, and mentions it only in its log.
  const signing = process.argv.includes('--release') ? ['-c.forceCodeSigning=true'] : [];
  const words = ['--publish=never', ...signing, ...pinnedKeyArguments(key)];
  const { code } = await run('electron-builder', words, {
    shell: process.platform === 'win32',
  });
  if (code !== 0) throw new Error(`electron-builder failed with exit code ${code}`);
  if (key) signManifests(output, key);
  else
    process.stderr.write(
      'LICENSE_DESK_UPDATE_KEY is not set: this app announces updates but does not install them.\n',
    );
}

try {
  await install();
  await buildIfStale();
  await packageServer();
  if (!process.argv.includes('--server')) await packageApp();
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
