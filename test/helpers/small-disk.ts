// A disk of a few megabytes, to be filled. Mounting one takes root.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './server-process.ts';

export interface SmallDisk {
  path: string;
  /** Leaves not a byte. */
  fill(): void;
  /** Takes away what `fill` wrote. */
  free(): void;
  /** Called automatically when the process exits. */
  unmount(): void;
}

/** @returns the disk, or why there can be none */
export function mountSmallDisk(megabytes: number): SmallDisk | string {
  const path = temporaryDirectory('disk');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'pipe' });
  } catch (error) {
    return (error as Error).message;
  }
  const filler = join(path, 'filler');
  // Lazily, because a process may still have a file open there.
  const unmount = () => {
    process.off('exit', unmount);
    execFileSync('umount', ['--lazy', path]);
  };
  process.once('exit', unmount);
  return {
    path,
    fill() {
      const file = openSync(filler, 'a');
      try {
        for (let size = 65_536; size >= 1;) {
          try {
            writeSync(file, Buffer.alloc(size));
          } catch {
            size = Math.floor(size / 2);
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    unmount,
  };
}
