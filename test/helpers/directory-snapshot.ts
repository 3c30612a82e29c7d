import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const MAY_GROW = ['logs', 'cache'];

/** The files of a data directory and a hash of each; not the logs and what Node keeps of compiled code. */
export function snapshotOf(dataDir: string): Record<string, string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dataDir, join(entry.parentPath, entry.name)))
    .filter((path) => !MAY_GROW.some((folder) => path.startsWith(folder + sep)));
  const hashed = files.map((path) => [
    path,
    createHash('sha256')
      .update(readFileSync(join(dataDir, path)))
      .digest('hex'),
  ]);
  return Object.fromEntries(hashed) as Record<string, string>;
}
