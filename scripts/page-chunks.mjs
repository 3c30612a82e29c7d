import { basename, join } from 'node:path';
import { normalizePath } from 'vite';
import { root } from './paths.mjs';

/** The page's code after `start.ts`. */
export const PAGE_MAIN = '/renderer/src/main.ts';

/**
 * @typedef {Extract<import('vite').Rollup.OutputBundle[string], { type: 'chunk' }>} Chunk
 *
 * @param {import('vite').Rollup.OutputBundle} bundle of the page
 * @param {string} module the end of its path
 * @returns {Chunk[]} the chunk that has it, and those that this one imports
 */
export function chunksFor(bundle, module) {
  const chunks = new Map(
    Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])),
  );
  const own = [...chunks.values()].find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(module)));
  if (!own) throw new Error(`no chunk of the page has ${module}`);
  return [own, ...own.imports.flatMap((name) => chunks.get(name) ?? [])];
}

const ICONS = /node_modules\/@lucide\//u;
/** Charts come after the first figures. */
const SHARED = /renderer\/src\/(components\/(?!LinePlot|line-chart|chart-)|api\/)/u;

/**
 * Groups the page's code by the first screens that need it: each loads few files, with little that it does not need. The
 * order matters, because a group also takes what its modules import, such as libraries, unless an earlier one has it.
 *
 * @param {readonly string[]} screens the first screens, as paths in the page's sources
 */
export function groupsByScreens(screens) {
  /** @typedef {Pick<import('vite').Rollup.PluginContext, 'getModuleInfo'>} Graph */
  /** @type {Map<string, Set<string>>} */
  const known = new Map();

  /** @param {string} entry a path in the page's sources @param {Graph} graph */
  function neededBy(entry, graph) {
    let modules = known.get(entry);
    if (!modules) {
      modules = new Set([normalizePath(join(root, 'renderer', 'src', entry))]);
      // The loop also visits what is added meanwhile.
      for (const id of modules)
        for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) modules.add(imported);
      known.set(entry, modules);
    }
    return modules;
  }

  /** @param {string} id @param {Graph} graph */
  function fileOf(id, graph) {
    // One file exports all icons, so that it cannot be seen which screen needs which.
    if (ICONS.test(id)) return 'components';
    if (id.includes('node_modules')) return null;
    const isMain = neededBy('main.ts', graph).has(id);
    const needing = screens.filter((screen) => neededBy(screen, graph).has(id));
    if (isMain && needing.length === 0) return 'main';
    if (isMain || needing.length > 1) return 'components';
    if (needing[0]) return basename(needing[0], '.vue');
    return SHARED.test(id) ? 'controls' : null;
  }

  const files = ['components', 'main', ...screens.map((screen) => basename(screen, '.vue')), 'controls'];
  return files.map((file) => ({
    /** @param {string} id @param {Graph} graph */
    name: (id, graph) => (fileOf(id, graph) === file ? file : null),
    debugName: file,
  }));
}
