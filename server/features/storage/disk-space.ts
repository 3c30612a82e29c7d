// Measures the free space of the data directory and classifies it.
import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  /** Bytes that this user can still write. */
  free: number;
  /** Bytes of the whole file system. */
  total: number;
}

export type SpaceLevel = 'ok' | 'low' | 'full';

const LOW_BYTES = 500_000_000;
/** Relative, so that a small volume is not low on space from the start. */
const LOW_SHARE = 0.1;
/** SQLite's WAL grows by this much before a checkpoint, and the database then by as much again. */
const FULL_BYTES = 8_000_000;
/** For volumes that are not much larger than that. */
const FULL_SHARE = 0.02;

/** A level ends only above its limit times this factor, so that it does not flap. */
const LEAVE_AT = 1.1;

/** @param before the previous level */
export function spaceLevel({ free, total }: DiskSpace, before: SpaceLevel = 'ok'): SpaceLevel {
  const full = Math.min(FULL_BYTES, total * FULL_SHARE) * (before === 'full' ? LEAVE_AT : 1);
  const low = Math.min(LOW_BYTES, total * LOW_SHARE) * (before === 'ok' ? 1 : LEAVE_AT);
  if (free < full) return 'full';
  return free < low ? 'low' : 'ok';
}

/** @throws Error if the path cannot be read */
export async function readDiskSpace(path: string): Promise<DiskSpace> {
  const { bavail, bfree, blocks, bsize } = await statfs(path);
  // Some file systems reserve space for root.
  const isRoot = process.getuid?.() === 0;
  return { free: (isRoot ? bfree : bavail) * bsize, total: blocks * bsize };
}
