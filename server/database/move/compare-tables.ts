// Proves that a copy has exactly the rows of its source.
import type { TableDigest } from './table-digest.ts';
import type { LastIds } from './table-shapes.ts';

export interface CopiedTable extends TableDigest {
  name: string;
}

/** The copy differs from its source, which must not happen. */
export class DifferentCopyError extends Error {
  override readonly name = 'DifferentCopyError';
}

/** @throws DifferentCopyError */
export function requireEqual(name: string, source: TableDigest, copy: TableDigest): void {
  if (source.rows !== copy.rows)
    throw new DifferentCopyError(`the table ${name} has ${source.rows} rows, but its copy has ${copy.rows}`);
  if (source.sha256 !== copy.sha256)
    throw new DifferentCopyError(
      `the copy of the table ${name} differs from it: SHA-256 ${copy.sha256} instead of ${source.sha256}`,
    );
}

/** @throws DifferentCopyError */
export function requireEqualIds(source: LastIds, copy: LastIds): void {
  for (const [name, id] of source)
    if (copy.get(name) !== id)
      throw new DifferentCopyError(
        `the last ID of the table ${name} is ${id}, but that of its copy is ${copy.get(name)}`,
      );
}
