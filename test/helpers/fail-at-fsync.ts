// Loaded into a process by `--import`: flushing config.json fails before it is in place (`file`), right afterwards
// (`directory`), or at the next flush of another directory (`next`).
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { fsyncSync, renameSync } = fs;
const at = process.env['FAIL_AT_FSYNC'];
const code = process.env['FAIL_WITH'] ?? 'EIO';
/** Until the one that fails, counted from when config.json is in place. */
let flushes = { directory: 1, next: 2 }[at ?? ''] ?? 0;
let isInPlace = false;

const failure = () =>
  Object.assign(new Error(`${code}: a test lets it fail, fsync`), { code, syscall: 'fsync' });

fs.renameSync = (from, to) => {
  renameSync(from, to);
  isInPlace ||= String(to).endsWith('/config.json');
};
fs.fsyncSync = (file) => {
  const isDraft = fs.readlinkSync(`/proc/self/fd/${file}`).includes('/config.json.');
  if (at === 'file' && isDraft) throw failure();
  if (isInPlace && flushes > 0) {
    flushes -= 1;
    if (flushes === 0) throw failure();
  }
  fsyncSync(file);
};
syncBuiltinESMExports();
