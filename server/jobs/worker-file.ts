import { extname, join } from 'node:path';

/** Workers stand beside this file in the sources, and in `jobs/` of the build. */
export function workerFile(name: string): string {
  const extension = extname(import.meta.filename);
  return extension === '.ts'
    ? join(import.meta.dirname, `${name}-worker.ts`)
    : join(import.meta.dirname, 'jobs', `${name}-worker.js`);
}
