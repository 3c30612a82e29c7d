// Runs before each test file: the process is shared with files that ran before, and each finds it as if it were new.
import { flushCompileCache } from 'node:module';
import { afterAll, vi } from 'vitest';
import { endFile, startFile } from './file-lifecycle.ts';
import './exit-on-signal.ts';

/** Servers in this process narrow it down for the files that they make. */
process.umask(0o022);
startFile();

afterAll(async () => {
  vi.useRealTimers();
  await endFile();
  // Vitest ends this process with a signal, which leaves it no time to write.
  flushCompileCache();
});
