// For what will be created: where it would be.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** The path itself, or the nearest one above it that exists. */
export function nearestPath(path: string): string {
  const parent = dirname(path);
  return existsSync(path) || parent === path ? path : nearestPath(parent);
}
