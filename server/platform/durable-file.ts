// Writes small files atomically: after a crash, a file has either the old or the new content.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { removeWhenFree, renameWhenFree } from './busy-files.ts';

const DRAFT = /\.(?<pid>\d+)\.tmp$/u;

/** Of the file that is replaced, or the mode of a new one. */
interface Attributes {
  mode: number;
  uid?: number;
  gid?: number;
}

const PERMISSIONS = 0o777;

function setAttributes(file: number, { mode, uid, gid }: Attributes): void {
  const own = fstatSync(file);
  const owner = { uid: uid ?? own.uid, gid: gid ?? own.gid };
  if (owner.uid !== own.uid || owner.gid !== own.gid) fchownSync(file, owner.uid, owner.gid);
  try {
    fchmodSync(file, mode & PERMISSIONS);
  } catch (error) {
    // The file systems of memory sticks have no modes.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

function writeDraft(draft: string, content: string, attributes: Attributes | null): void {
  // Only a new file: in a folder of several users, another one could have put a link to a third file in its place.
  const file = openSync(draft, 'wx', 0o600);
  try {
    if (attributes) setAttributes(file, attributes);
    // writeSync() may write a part only, such as what a nearly full disk has space for.
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Its failure must not hide the one before. */
function removeDraft(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // It could not be created either.
  }
}

/** Readable by the owner only (mode 0600), unless other attributes are given. */
export function writeFileDurably(path: string, content: string, attributes: Attributes | null = null): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}.${process.pid}.tmp`;
  try {
    writeDraft(draft, content, attributes);
    renameWhenFree(draft, path);
  } catch (error) {
    removeDraft(draft);
    throw error;
  }
  syncDirectory(dirname(path));
}

/** Makes created, renamed and removed entries survive a power failure. */
export function syncDirectory(path: string): void {
  // Windows cannot open a directory; its renames are durable anyway.
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes what killed processes left unfinished in the directory. Call it before this process writes there. */
export function removeDrafts(directory: string): void {
  for (const name of readdirSync(directory)) {
    const pid = Number(DRAFT.exec(name)?.groups?.['pid'] ?? Number.NaN);
    // In a container, each start has the same process ID.
    if (pid === process.pid || (pid > 0 && !isRunning(pid))) removeWhenFree(join(directory, name));
  }
}
