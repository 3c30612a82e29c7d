import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const RUNNER = join(import.meta.dirname, '..', 'helpers', 'rejecting-job.ts');

// Electron's utility process only warns of unhandled rejections, and worker threads inherit that.
it('reports a job whose worker leaves a rejection unhandled, also where the process only warns of these', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--unhandled-rejections=warn', RUNNER], {
    timeout: 120_000,
  });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines[0]).toMatchObject({
    msg: 'job failed',
    job: 'rejecting',
    err: { message: 'a forgotten promise' },
  });
});
