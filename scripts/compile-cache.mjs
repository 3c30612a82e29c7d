/** What Node has compiled for one process it need not compile for the next, which halves a start. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';

export const compileCache = join(root, 'node_modules', '.cache', 'compiled');

/** A run of the tests adds some 30 MB: copies of the program have other paths, and Vitest gives each file a new URL. */
const MOST_BYTES = 200_000_000;

/** @returns {number} its size in bytes; a file may go while this looks */
function sizeOfCache() {
  if (!existsSync(compileCache)) return 0;
  return readdirSync(compileCache, { recursive: true })
    .map((name) => statSync(join(compileCache, String(name)), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

/** For all processes that this one starts, and theirs: tests start hundreds. */
export function shareCompileCache() {
  // Set by the process that started this one, or by a user who wants another place.
  if (process.env['NODE_COMPILE_CACHE'] !== undefined) return;
  if (sizeOfCache() > MOST_BYTES) rmSync(compileCache, { recursive: true, force: true });
  process.env['NODE_COMPILE_CACHE'] = compileCache;
}
