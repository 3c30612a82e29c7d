import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chunksFor, PAGE_MAIN } from './page-chunks.mjs';

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
      const loaded = [PAGE_MAIN, ...screens].flatMap((module) => chunksFor(bundle, module));
      for (const { fileName } of new Set(loaded)) {
        const file = join(dir, fileName);
        writeFileSync(file, HINT + readFileSync(file, 'utf8'));
      }
    },
  };
}
