import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';

/** The CLI and API tests start what is in `out/`, which must therefore be what the sources say. */
export function setup(): void {
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status === 0) return;
  // Tests of pure functions still say something; those of the product must fail rather than pass on an older build.
  rmSync('out/main', { recursive: true, force: true });
}
