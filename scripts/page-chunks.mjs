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
