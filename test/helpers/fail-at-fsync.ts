// Loaded into a process by `--import`: flushing config.json fails before it is in place (`file`), or right afterwards
// (`directory`).
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { fsyncSync, renameSync } = fs;
const at = process.env['FAIL_AT_FSYNC'];
let isInPlace = false;

const failure = () =>
  Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', errno: -5, syscall: 'fsync' });

fs.renameSync = (from, to) => {
  renameSync(from, to);
  isInPlace ||= String(to).endsWith('/config.json');
};
fs.fsyncSync = (file) => {
  const isDraft = fs.readlinkSync(`/proc/self/fd/${file}`).includes('/config.json.');
  if (at === 'file' && isDraft) throw failure();
  if (at === 'directory' && isInPlace) {
    isInPlace = false;
    throw failure();
  }
  fsyncSync(file);
};
syncBuiltinESMExports();
