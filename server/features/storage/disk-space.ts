// How much room the data directory has left, and when that is too little.
import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  /** Bytes that this user may still write. */
  free: number;
  /** Bytes of the whole file system. */
  total: number;
}

export type SpaceLevel = 'ok' | 'low' | 'full';

const LOW_BYTES = 500_000_000;
/** A small volume is not low on space from its first day. */
const LOW_SHARE = 0.1;
/** SQLite's log grows by this much before it is written back, and the database then by as much again. */
const FULL_BYTES = 8_000_000;
/** Of a volume that is hardly larger than that itself. */
const FULL_SHARE = 0.02;

/** A level is left only with this much more than it begins at, so that it does not change with every file. */
const LEAVE_AT = 1.1;

/** @param before the level until now */
export function spaceLevel({ free, total }: DiskSpace, before: SpaceLevel = 'ok'): SpaceLevel {
  const full = Math.min(FULL_BYTES, total * FULL_SHARE) * (before === 'full' ? LEAVE_AT : 1);
  const low = Math.min(LOW_BYTES, total * LOW_SHARE) * (before === 'ok' ? 1 : LEAVE_AT);
  if (free < full) return 'full';
  return free < low ? 'low' : 'ok';
}

/** @throws Error if the path cannot be read */
export async function readDiskSpace(path: string): Promise<DiskSpace> {
  const { bavail, bfree, blocks, bsize } = await statfs(path);
  // Some file systems keep a reserve for root.
  const isRoot = process.getuid?.() === 0;
  return { free: (isRoot ? bfree : bavail) * bsize, total: blocks * bsize };
}
