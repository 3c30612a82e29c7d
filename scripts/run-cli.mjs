/** Runs the CLI from a checkout, always up to date: `npm run -s cli -- ARGS`. Adds nothing to stdout. */
import { installAndBuild } from './build.mjs';
import { run } from './child.mjs';
import { cliArguments, nodePath, serverEnvironment } from './paths.mjs';

try {
  await installAndBuild();
  const { code } = await run(nodePath, [...cliArguments, ...process.argv.slice(2)], {
    env: serverEnvironment,
  });
  process.exitCode = code;
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
