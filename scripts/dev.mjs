/**
 * `npm run dev`: installs what is missing, then starts development on the product's Node version. Node 20 built-ins
 * only.
 */
import { join } from 'node:path';
import { install } from './bootstrap.mjs';
import { run } from './child.mjs';
import { compileCache } from './compile-cache.mjs';
import { nodePath, root } from './paths.mjs';

try {
  await install();
  const { code } = await run(nodePath, [join(root, 'scripts', 'develop.ts'), ...process.argv.slice(2)], {
    // Caches compiled sources, so that restarts are faster.
    env: { NODE_COMPILE_CACHE: compileCache },
  });
  process.exitCode = code;
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
