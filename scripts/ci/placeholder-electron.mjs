/** A placeholder for Electron: the folder of a distribution whose program is scripts/ci/placeholder-app.mjs. */
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { nodePath, root } from '../paths.mjs';
import { packWithoutElectron } from '../server-package.mjs';

const program = join(root, 'scripts', 'ci', 'placeholder-app.mjs');

/** @param {string} text for a shell */
const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * A folder for ELECTRON_OVERRIDE_DIST_PATH.
 *
 * @param {string} folder
 */
export function writePlaceholderElectron(folder) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'electron');
  // ELECTRON_RUN_AS_NODE makes Electron a Node; a packaged app has a fuse against that.
  writeFileSync(
    file,
    `#!/bin/sh
[ "$ELECTRON_RUN_AS_NODE" = 1 ] && exec ${quote(nodePath)} "$@"
exec ${quote(nodePath)} ${quote(program)} "$@"
`,
    { mode: 0o755 },
  );
}

/**
 * Packs the built app, its fuses included, and makes its program one that can be started.
 *
 * @param {string} work an empty folder
 * @param {string} output where electron-builder would put the unpacked app
 */
export async function packPlaceholderApp(work, output) {
  const { extractAll } = await import('@electron/asar');
  const packed = await packWithoutElectron(work);
  const app = join(output, basename(packed));
  rmSync(app, { recursive: true, force: true });
  cpSync(packed, app, { recursive: true });
  // The stand-in's Node reads no archives.
  extractAll(join(app, 'resources', 'app.asar'), join(app, 'resources', 'app'));
  const file = join(app, 'license-desk');
  // What the fuses forbid.
  const start = `#!/bin/sh
unset ELECTRON_RUN_AS_NODE NODE_OPTIONS
exec ${quote(nodePath)} ${quote(program)} "$(dirname "$0")/resources/app" "$@"
`;
  // The shell never comes to the fuses behind it.
  writeFileSync(file, Buffer.concat([Buffer.from(start), readFileSync(file)]));
  chmodSync(file, 0o755);
  return file;
}
