/** Records which packages the bundles contain, because development dependencies end up in them too. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { root } from './paths.mjs';

const folder = join(root, 'out', '.packages');

/** Code that build tools add to a bundle is not a file of their package. */
const OF_TOOLS = /** @type {const} */ ([
  ['\0vite/', 'vite'],
  ['\0rolldown/', 'rolldown'],
  ['\0plugin-vue:', '@vitejs/plugin-vue'],
]);

/** @param {string} id of a module. @returns {string | null} the folder of its package, `node_modules/vue` */
function packageFolder(id) {
  const tool = OF_TOOLS.find(([prefix]) => id.startsWith(prefix));
  if (tool) return `node_modules/${tool[1]}`;
  const path = relative(root, id.replace(/^\0/u, '').replace(/\?.*$/u, '')).replaceAll('\\', '/');
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(path)?.[0] ?? null;
}

/**
 * A Vite plugin that records the packages of one bundle.
 *
 * @param {string} name of the bundle
 * @param {readonly string[]} [copied] folders of packages whose files are copied instead of bundled
 * @returns {import('vite').Plugin}
 */
export function recordPackages(name, copied = []) {
  const found = new Set(copied);
  let base = root;
  return {
    name: 'record-packages',
    configResolved(config) {
      base = config.root;
    },
    // All loaded modules, including those that add no code to the bundle: `vue` only re-exports.
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      // Fonts that a style sheet refers to are not modules.
      const assets = Object.values(bundle)
        .filter((file) => file.type === 'asset')
        .flatMap(({ originalFileNames }) => originalFileNames.map((file) => resolve(base, file)));
      const modules = [...this.getModuleIds(), ...chunks.flatMap(({ moduleIds }) => moduleIds)];
      for (const id of [...modules, ...assets]) {
        const path = packageFolder(id);
        if (path !== null) found.add(path);
      }
    },
    closeBundle() {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${name}.json`), JSON.stringify([...found].toSorted(), null, 2));
    },
  };
}

/** @returns {string[]} the folders of all packages that the last build put into its bundles */
export function bundledPackages() {
  const bundles = ['main', 'preload', 'renderer'].map((bundle) => join(folder, `${bundle}.json`));
  return [...new Set(bundles.flatMap((file) => JSON.parse(readFileSync(file, 'utf8'))))].toSorted();
}
