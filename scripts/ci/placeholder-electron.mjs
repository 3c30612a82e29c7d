/** A placeholder for Electron: a distribution folder whose program is scripts/ci/placeholder-app.mjs. */
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
  // ELECTRON_RUN_AS_NODE makes Electron behave like Node; a packaged app has a fuse against that.
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
  // The stand-in's Node cannot read archives.
  extractAll(join(app, 'resources', 'app.asar'), join(app, 'resources', 'app'));
  const file = join(app, 'license-desk');
  // Unset what the fuses forbid.
  const start = `#!/bin/sh
unset ELECTRON_RUN_AS_NODE NODE_OPTIONS
exec ${quote(nodePath)} ${quote(program)} "$(dirname "$0")/resources/app" "$@"
`;
  // The shell never reaches the fuses, which follow the script.
  writeFileSync(file, Buffer.concat([Buffer.from(start), readFileSync(file)]));
  chmodSync(file, 0o755);
  return file;
}
