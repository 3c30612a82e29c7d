/** `npm run setup`: installs everything that the tests need, like `npm test`. Node 20 built-ins only. */
import { install } from './bootstrap.mjs';
import { HEADLESS_SHELL } from './chromium.mjs';
import { ensureCommands } from './debian-packages.mjs';
import { ensureTestPrograms } from './test-programs.mjs';

try {
  await install();
  // Not every system has it, and the tests also run without it.
  await ensureCommands({ [HEADLESS_SHELL]: [HEADLESS_SHELL] });
  const missing = await ensureTestPrograms();
  if (missing.length > 0) {
    throw new Error(
      `These programs are missing: ${missing.join(', ')}. On Debian, run \`npm run setup\` as root; elsewhere, install them yourself.`,
    );
  }
} catch (error) {
  process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
