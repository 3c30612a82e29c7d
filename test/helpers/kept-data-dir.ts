import { rm } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { newDataDir } from './test-server.ts';

/** A data directory that outlives its server, for the time of one test. */
export async function keptDataDir(): Promise<string> {
  const dataDir = await newDataDir();
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}
