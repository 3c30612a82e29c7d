/** `npm run dev`: installs what is missing, then develops with the Node that the product runs on. Node 20 built-ins only. */
import { join } from 'node:path';
import { install } from './bootstrap.mjs';
import { run } from './child.mjs';
import { nodePath, root } from './paths.mjs';

try {
  await install();
  const { code } = await run(nodePath, [join(root, 'scripts', 'develop.ts'), ...process.argv.slice(2)], {
    // Restarts read the sources as Node compiled them before.
    env: { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled') },
  });
  process.exitCode = code;
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
