// The file in the data directory that tells the CLI how to reach a running server.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { removeWhenFree } from '#server/platform/busy-files.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';

const runtimeFile = z.object({
  pid: z.int(),
  version: z.string(),
  api: z.string(),
  /** The admin listener's address, without a path. */
  admin: z.string(),
  /** The CLI's credential. Only the owner can read the file. */
  secret: z.string(),
});

export type RuntimeFile = z.infer<typeof runtimeFile>;

function pathIn(dataDir: string): string {
  return join(dataDir, 'runtime.json');
}

export function newRuntimeSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function writeRuntimeFile(dataDir: string, runtime: RuntimeFile): void {
  writeFileDurably(pathIn(dataDir), `${JSON.stringify(runtime, null, 2)}\n`);
}

export function removeRuntimeFile(dataDir: string): void {
  removeWhenFree(pathIn(dataDir));
}

/** @returns null if the file is missing; a crash may leave a stale one behind, so the caller must try the address */
export function readRuntimeFile(dataDir: string): RuntimeFile | null {
  try {
    return runtimeFile.parse(JSON.parse(readFileSync(pathIn(dataDir), 'utf8')));
  } catch {
    return null;
  }
}
