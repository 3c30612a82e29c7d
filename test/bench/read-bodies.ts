import { readFileSync } from 'node:fs';

/** @param file with a request body a line */
export function readBodies(file: string): object[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as object);
}
