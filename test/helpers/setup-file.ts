// Runs before each test file: the process is shared with files that ran before, and each finds it as if it were new.
import { flushCompileCache } from 'node:module';
import { afterAll, vi } from 'vitest';
import { SCRYPT_PARAMETERS } from '#server/platform/passphrase-key.ts';
import { endFile, startFile } from './file-lifecycle.ts';
import './exit-on-signal.ts';

/** Servers in this process narrow it down for the files that they make. */
process.umask(0o022);
/**
 * Backups that a test makes in this process: with the product's own parameters, each one takes 128 MB and up to a second of
 * CPU time. Each file says what its key was derived with, so all programs read them, and programs make the product's own.
 */
SCRYPT_PARAMETERS.n = 2 ** 11;
startFile();

afterAll(async () => {
  vi.useRealTimers();
  await endFile();
  // Vitest ends this process with a signal, which leaves it no time to write.
  flushCompileCache();
});
