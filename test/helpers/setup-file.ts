// Runs before each test file: the process is shared with files that ran before, and each finds it as if it were new.
import { flushCompileCache } from 'node:module';
import { afterAll, vi } from 'vitest';
import { appendFileSync, readFileSync } from 'node:fs';
import { endFile, startFile } from './file-lifecycle.ts';

const stat = () => {
  const f = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .map(Number);
  return [(f[11]! + f[12]!) / 100, (f[13]! + f[14]!) / 100];
};
const began = stat();
const wall = Date.now();
afterAll(() => {
  const end = stat();
  const file = (globalThis as any).__vitest_worker__?.filepath ?? '';
  appendFileSync(
    '/tmp/house/files.log',
    JSON.stringify({ file, pid: process.pid, began, end, wall, over: Date.now(), up: process.uptime() }) +
      '\n',
  );
});
/** Servers in this process narrow it down for the files that they make. */
process.umask(0o022);
startFile();

afterAll(async () => {
  vi.useRealTimers();
  await endFile();
  // Vitest ends this process with a signal, which leaves it no time to write.
  flushCompileCache();
});
