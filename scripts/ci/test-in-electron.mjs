/**
 * `node scripts/ci/test-in-electron.mjs FILES`: runs test files on the Node inside Electron. It is built on BoringSSL,
 * which lacks some of what Node's OpenSSL has.
 */
import { join } from 'node:path';
import { buildIfStale } from '../build.mjs';
import { run } from '../child.mjs';
import { requireElectron } from '../desktop-app.mjs';
import { root } from '../paths.mjs';

const REPORT =
  '`Electron ${process.versions.electron}, Node ${process.versions.node}, ${process.versions.openssl}`';

try {
  const files = process.argv.slice(2);
  if (files.length === 0) throw new Error('name the test files to run');
  const binary = requireElectron();
  await buildIfStale();
  const options = { env: { ELECTRON_RUN_AS_NODE: '1' } };
  await run(binary, ['-p', REPORT], options);
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { code } = await run(binary, [vitest, 'run', ...files], options);
  process.exitCode = code;
} catch (error) {
  process.stderr.write(`error: ${/** @type {Error} */ (error).message}\n`);
  process.exitCode = 1;
}
