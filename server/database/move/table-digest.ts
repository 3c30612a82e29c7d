// The number of rows of a table and a digest over them, which is the same for equal tables of both databases.
import { createHash } from 'node:crypto';

export interface TableDigest {
  rows: number;
  /** SHA-256, hex, over the rows by primary key, each a line as PostgreSQL's COPY writes it in its text format. */
  sha256: string;
}

export interface DigestBuilder {
  /** @param lines whole lines with their line feeds */
  add(lines: Uint8Array, rows: number): void;
  finish(): TableDigest;
}

export function createDigest(): DigestBuilder {
  const hash = createHash('sha256');
  let rows = 0;
  return {
    add(lines, count) {
      hash.update(lines);
      rows += count;
    },
    finish: () => ({ rows, sha256: hash.digest('hex') }),
  };
}
