// Keeps the latest time that `verify` has seen in a file, to detect a clock that was set back.
import type { LastSeenStore } from '../verifier/last-seen.ts';
import { CommandFailure } from './command-failure.ts';
import { replaceFile } from './replace-file.ts';
import { fileFailure, readTextFile } from './text-file.ts';

/** The file contains one ISO 8601 timestamp. @throws CommandFailure from both methods, also for any other content */
export function lastSeenFile(path: string): LastSeenStore {
  return {
    async read() {
      let text: string;
      try {
        text = (await readTextFile(path)).trim();
      } catch (error) {
        if (error instanceof CommandFailure && error.code === 'not_found') return null;
        throw error;
      }
      const ms = Date.parse(text);
      if (Number.isNaN(ms))
        throw new CommandFailure(
          'invalid_request',
          `${path} does not contain a time; delete it to start again`,
        );
      return ms;
    },
    write(ms) {
      try {
        replaceFile(path, `${new Date(ms).toISOString()}\n`, 0o600);
      } catch (error) {
        throw fileFailure('invalid_request', `cannot write ${path}`, error);
      }
    },
  };
}
