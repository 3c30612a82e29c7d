// Small JSON files that the shell keeps. A broken one counts as missing.
import { readFileSync } from 'node:fs';
import { writeFileDurably } from '#server/platform/durable-file.ts';

/** @returns an empty object if the file is missing or unreadable */
export function readJsonFile(path: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** @throws what the file system throws */
export function writeJsonFile(path: string, content: object): void {
  writeFileDurably(path, `${JSON.stringify(content, null, 2)}\n`);
}
