import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startJobRunner } from '#server/jobs/job-runner.ts';

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

it('starts no thread for a job without work, and asks less and less often while the database is away', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  const logged: object[] = [];
  const asked: number[] = [];
  let isAway = true;
  const job = {
    name: 'license-scan',
    everySeconds: 1,
    settleMs: () => 0,
    needsTrustedClock: false,
    isShared: false,
    workerData: {},
    async hasWork() {
      asked.push(Math.round(performance.now() / 1000));
      if (isAway) throw new Error('the database is away');
      return false;
    },
  };
  const write = (line: string) => logged.push(JSON.parse(line) as object);
  const startedAt = performance.now();
  const runner = startJobRunner([job], {
    logger: pino({ base: null, timestamp: false }, { write }),
    clockGuard: { isTrusted: () => true },
    leadership: { isLeader: () => true },
    guard: { isStopped: () => false, noteFault: () => {} },
    settleMs: 0,
    upkeepTickets: { settle: () => {}, newestOpen: () => null },
    workerFile: (name) => join(import.meta.dirname, `there is no ${name} worker`),
    onBackup: () => {},
    onChanged: () => {},
  });
  onTestFinished(async () => {
    await runner.stop();
    vi.useRealTimers();
  });

  await vi.advanceTimersByTimeAsync(200_000);
  expect(asked.map((second) => second - Math.round(startedAt / 1000))).toEqual([0, 5, 15, 35, 75, 135, 195]);
  expect(logged).toMatchObject([{ level: 50, msg: 'job failed', err: { message: 'the database is away' } }]);
  expect(runner.areFine()).toBe(false);

  isAway = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(logged.slice(1, 3)).toEqual([
    { level: 30, job: 'license-scan', msg: 'job works again' },
    { level: 30, job: 'license-scan', due: false, msg: 'job done' },
  ]);
  expect(runner.areFine()).toBe(true);
  expect(runner.isRunning('license-scan')).toBe(false);
});
