// What a running server leaves in its data directory, so that the CLI finds it and may speak to it.
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileDurably } from '#server/platform/durable-file.ts';

const runtimeFile = z.object({
  pid: z.int(),
  version: z.string(),
  api: z.string(),
  /** The admin listener's address, without a path. */
  admin: z.string(),
  /** What the CLI authenticates with. The file can be read by its owner only. */
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
  rmSync(pathIn(dataDir), { force: true });
}

/** @returns null if there is none; a file that a crash left behind is found too, so whoever reads it has to try it */
export function readRuntimeFile(dataDir: string): RuntimeFile | null {
  try {
    return runtimeFile.parse(JSON.parse(readFileSync(pathIn(dataDir), 'utf8')));
  } catch {
    return null;
  }
}
