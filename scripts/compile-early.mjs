import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Chromium compiles all functions of a script that starts with it while the script is loading, in another thread. */
const HINT = '//# allFunctionsCalledOnLoad\n';

/**
 * A Vite plugin for the page: the code of the first screen is compiled while it is loading, and not function by function
 * when it first runs.
 *
 * @param {readonly string[]} screens the first screens that this is for, as ends of their files' paths
 * @returns {import('vite').Plugin}
 */
export function compileEarly(screens) {
  return {
    name: 'compile-early',
    apply: 'build',
    // Vite itself puts something at the start of chunks right before they are written.
    writeBundle({ dir = '' }, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
      /** @param {string} end */
      const withModule = (end) => {
        const found = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(end)));
        if (!found) throw new Error(`no chunk of the page has ${end}`);
        return found;
      };
      const first = ['renderer/src/main.ts', ...screens].map(withModule);
      const loaded = new Set(
        first.flatMap((chunk) => [chunk, ...chunk.imports.map((name) => byName.get(name))]),
      );
      for (const chunk of loaded) {
        if (!chunk) continue;
        const file = join(dir, chunk.fileName);
        writeFileSync(file, HINT + readFileSync(file, 'utf8'));
      }
    },
  };
}
