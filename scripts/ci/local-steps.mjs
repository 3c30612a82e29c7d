/**
 * Replacements of `npm run ci:linux` for steps that need GitHub or a download. Steps are identified by their action or
 * ID; all others run as written.
 */

/**
 * @typedef {object} Replacement
 * @property {string} reason
 * @property {string} [run] in its place; nothing if it is left out
 * @property {Record<string, string>} [env] for the step, which then runs as it is written
 */

const STAND_IN = 'Electron cannot be downloaded here; uses the stand-in';

/** @type {Readonly<Record<string, Replacement>>} */
export const REPLACED_ACTIONS = {
  'actions/checkout': { reason: 'this checkout' },
  'actions/setup-node': { reason: 'the Node in node_modules' },
  'actions/cache': { reason: 'nothing to cache' },
  'actions/upload-artifact': { reason: 'checks that the files exist without uploading them' },
  'actions/download-artifact': { reason: 'other jobs have no artifacts here' },
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
    reason: 'no installers are built',
    run: 'node scripts/ci/check-packages.mjs dist --without-installers',
  },
  deb: { reason: 'no Debian package is built' },
  install: {
    reason: 'no Debian package is built; uses the unpacked app',
    run: 'echo "APP=$(echo "$PWD"/dist/linux*-unpacked/license-desk)" >> "$GITHUB_ENV"',
  },
  next: {
    reason: `${STAND_IN}, and no installers are built`,
    run: 'node scripts/ci/package-next.mjs dist/next --placeholder',
  },
  uninstall: { reason: 'no Debian package is built' },
};
