// Location of the built back office and the files of the API reference: next to this code in the build, in `out/` in
// the sources.
import { extname, join } from 'node:path';

const BUILT =
  extname(import.meta.filename) === '.ts'
    ? join(import.meta.dirname, '..', '..', 'out')
    : join(import.meta.dirname, '..');

export const PAGE_DIRECTORY = join(BUILT, 'renderer');
export const API_DOCS_DIRECTORY = join(BUILT, 'api-docs');
