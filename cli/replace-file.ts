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
import { basename, dirname, resolve } from 'node:path';
import { writeFileDurably } from '#server/platform/durable-file.ts';

/**
 * What can be written, but not replaced: in a directory of another user, mounted by itself into a container, or with a name
 * that leaves no room for that of a draft.
 */
const NOT_REPLACEABLE = ['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'ENAMETOOLONG'];

/**
 * A regular file has either the old or the new content afterwards. It keeps its mode and its owner.
 * @param modeOfNew of a file that does not exist yet
 * @throws the file system's error
 */
export function replaceFile(path: string, content: string, modeOfNew: number): void {
  const present = statSync(path, { throwIfNoEntry: false });
  // A pipe or a device.
  if (present && !present.isFile()) return writeFileSync(path, content);
  const target = followLinks(path);
  if (typeof target === 'number') return writeFileSync(target, content);
  if (present) accessSync(target, constants.W_OK);
  try {
    writeFileDurably(target, content, present ?? { mode: modeOfNew });
  } catch (error) {
    if (!NOT_REPLACEABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    writeFileSync(target, content);
  }
}

/** @returns where the file is, or will be; a descriptor for an open file of this process, such as `/dev/stdout` */
function followLinks(path: string): string | number {
  const folder = realpathSync(dirname(path));
  if (folder === `/proc/${process.pid}/fd`) return Number(basename(path));
  // The target of a link may not exist yet.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  return followLinks(resolve(folder, readlinkSync(path)));
}
