// One folder for all temporary files of a run: what a process that was killed has left goes with it.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryParent } from '../../scripts/temporary-parent.mjs';

/** Sets the folder for this process and its children, and removes it when this process exits, also after a signal. */
// oxlint-disable-next-line import/no-default-export -- Playwright and Vitest run the default export of a setup file
export default function makeRunFolder(): void {
  // In the folder of `npm test`, which is removed once all processes of an interrupted run have ended. Short, because a
  // socket's path may have no more than 107 bytes.
  const folder = mkdtempSync(join(process.env['LICENSE_DESK_RUN_FOLDER'] ?? temporaryParent(), 'desk-'));
  // PostgreSQL does not run as root; its own folder inside is its user's.
  chmodSync(folder, 0o755);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder;
  // An interrupted run skips the teardown that a setup file can return.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}
