// Replaces a file that the user has named, which may be a symbolic link, a pipe or a device.
import {
  accessSync,
  constants,
  lstatSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { writeFileDurably } from '#server/platform/durable-file.ts';

/** What can be written, but not replaced: in a directory of another user, or mounted by itself into a container. */
const NOT_REPLACEABLE = ['EACCES', 'EPERM', 'EROFS', 'EBUSY'];

/**
 * A regular file has either the old or the new content afterwards. It keeps its mode and its owner.
 * @param modeOfNew of a file that does not exist yet
 * @throws the file system's error
 */
export function replaceFile(path: string, content: string, modeOfNew: number): void {
  const present = statSync(path, { throwIfNoEntry: false });
  const target = present && !present.isFile() ? null : followLinks(path);
  if (target === null) {
    writeFileSync(path, content);
    return;
  }
  if (present) accessSync(target, constants.W_OK);
  try {
    writeFileDurably(target, content, present ?? { mode: modeOfNew });
  } catch (error) {
    if (!NOT_REPLACEABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    writeFileSync(target, content);
  }
}

/** @returns where the file is, or will be; null for an open file of a process, such as `/dev/stdout` */
function followLinks(path: string): string | null {
  const folder = realpathSync(dirname(path));
  if (folder.startsWith('/proc/')) return null;
  // The target of a link may not exist yet.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  return followLinks(resolve(folder, readlinkSync(path)));
}
