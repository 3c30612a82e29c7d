/**
 * What `npm run ci:linux` does in place of the steps that need GitHub or a download. A step is named by its action or
 * its id; all others run as they are written.
 */

/**
 * @typedef {object} Replacement
 * @property {string} reason
 * @property {string} [run] in its place; nothing if it is left out
 * @property {Record<string, string>} [env] for the step, which then runs as it is written
 */

const STAND_IN = 'Electron cannot be downloaded here; the stand-in takes its place';

/** @type {Readonly<Record<string, Replacement>>} */
export const REPLACED_ACTIONS = {
  'actions/checkout': { reason: 'this checkout' },
  'actions/setup-node': { reason: 'the Node in node_modules' },
  'actions/cache': { reason: 'nothing to cache' },
  'actions/upload-artifact': { reason: 'looks for the files, and uploads none' },
  'actions/download-artifact': { reason: 'there are no artifacts of other jobs' },
  'actions/attest': { reason: 'GitHub signs attestations' },
};

/** @type {Readonly<Record<string, Replacement>>} */
export const REPLACED_STEPS = {
  packages: { reason: 'installs only what is missing', run: 'node scripts/bootstrap.mjs' },
  electron: { reason: STAND_IN },
  desktop: { reason: 'the stand-in needs no display' },
  specs: { reason: STAND_IN, env: { LICENSE_DESK_E2E_PLACE: 'stand-in' } },
  wayland: { reason: 'needs windows of Electron; test/electron/windows.test.ts imitates the desktop' },
  'no-keyring': { reason: 'needs Electron; test/electron/master-key.test.ts imitates the desktop' },
  keyring: { reason: 'needs Electron; test/electron/master-key.test.ts imitates the desktop' },
  package: {
    reason: `${STAND_IN}, and electron-builder cannot download its tools for installers`,
    run: 'npm run package -- --server && node scripts/ci/package-placeholder.mjs dist',
  },
  files: {
    reason: 'there are no installers',
    run: 'node scripts/ci/check-packages.mjs dist --without-installers',
  },
  deb: { reason: 'there is no Debian package' },
  install: {
    reason: 'there is no Debian package; the unpacked app takes its place',
    run: 'echo "APP=$(echo "$PWD"/dist/linux*-unpacked/license-desk)" >> "$GITHUB_ENV"',
  },
  uninstall: { reason: 'there is no Debian package' },
};
