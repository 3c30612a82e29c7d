// A server that gets a signal before it is ready: told to stop, it undoes what it has done so far, and that is no failure.
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { lockDirectory } from '#server/database/directory-lock.ts';
import { CLI_PROGRAM } from '../helpers/cli.ts';
import { selectRows } from '../helpers/database.ts';
import {
  hangUpWhileStarting,
  killWhileStarting,
  type ProcessEnd,
  temporaryDirectory,
} from '../helpers/server-process.ts';

/** Of the some seventy changes that a first start makes to its data directory. */
const MOMENTS = [1, 2, 3, 5, 12, 25, 40, 58, 61, 64];

/** The contract's exit, and nothing said but log lines. */
function expectQuietEnd({ code, stderr }: ProcessEnd): void {
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
}

it.each<[NodeJS.Signals, number[]]>([
  ['SIGTERM', MOMENTS],
  ['SIGINT', [1, 25]],
])('%s', async (signal, moments) => {
  let early = 0;
  do {
    for (const changes of moments) {
      const dataDir = temporaryDirectory();
      const end = await killWhileStarting({ dataDir, program: [CLI_PROGRAM, 'serve'] }, changes, signal);
      expectQuietEnd(end);
      if (end.stdout === '') early += 1;

      expect(readRuntimeFile(dataDir)).toBe(null);
      expect(readdirSync(dataDir).filter((name) => /-(wal|shm|journal)$|\.tmp$/u.test(name))).toEqual([]);
      const lock = await lockDirectory(dataDir);
      expect(lock).not.toBe(null);
      await lock?.release();
      if (readdirSync(dataDir).includes('license-desk.db')) {
        expect(await selectRows(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      }
    }
    // Until most were early: else this has only seen what process.test.ts sees.
  } while (early <= moments.length / 2);
});

it('SIGHUP, of logrotate, does not end the start', async () => {
  for (const changes of [1, 5, 12]) {
    const end = await hangUpWhileStarting(
      { dataDir: temporaryDirectory(), program: [CLI_PROGRAM, 'serve'] },
      changes,
    );
    expectQuietEnd(end);
  }
});
