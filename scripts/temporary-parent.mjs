/** Where the temporary files of a test run go. Node 20 built-ins only. */
import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
/** Several times what all tests that run at once take. */
const MEMORY_BYTES = 4_000_000_000;

/** Tests start programs from their folders, which some systems do not allow there. */
function mayHoldPrograms() {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const [, , , options = 'noexec'] =
    mounts.map((line) => line.split(' ')).findLast(([, path]) => path === MEMORY) ?? [];
  return !options.split(',').includes('noexec');
}

/**
 * Memory where the system has room for it: the tests' servers wait for the disk after each of thousands of commits, and no
 * test has to survive a power cut.
 *
 * @returns {string}
 */
export function temporaryParent() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > MEMORY_BYTES && mayHoldPrograms() ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
