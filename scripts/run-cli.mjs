/** Runs the CLI from a checkout, always up to date: `npm run -s cli -- ARGS`. Adds nothing to stdout. */
import { install } from './bootstrap.mjs';
import { buildIfStale } from './build.mjs';
import { run } from './child.mjs';
import { cliArguments, nodePath } from './paths.mjs';

try {
  await install();
  await buildIfStale();
  const { code } = await run(nodePath, [...cliArguments, ...process.argv.slice(2)]);
  process.exitCode = code;
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
