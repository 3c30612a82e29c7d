import { extname, join } from 'node:path';

/** Workers are next to this file in the sources, and in `jobs/` in the build. */
export function workerFile(name: string): string {
  const extension = extname(import.meta.filename);
  return extension === '.ts'
    ? join(import.meta.dirname, `${name}-worker.ts`)
    : join(import.meta.dirname, 'jobs', `${name}-worker.js`);
}
