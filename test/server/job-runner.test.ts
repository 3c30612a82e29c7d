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

/** Runs a job that only asks whether there is work, on simulated time. */
function runAsking(name: string, { everySeconds = 1, isShared = false } = {}) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  const world = { isAway: true, isLeader: true };
  const logged: object[] = [];
  const asked: number[] = [];
  const startedAt = performance.now();
  const job = {
    name,
    everySeconds,
    settleMs: () => 0,
    needsTrustedClock: false,
    isShared,
    workerData: {},
    async hasWork() {
      asked.push(Math.round((performance.now() - startedAt) / 1000));
      if (world.isAway) throw new Error('the database is away');
      return false;
    },
  };
  const write = (line: string) => logged.push(JSON.parse(line) as object);
  const runner = startJobRunner([job], {
    logger: pino({ base: null, timestamp: false }, { write }),
    clockGuard: { isTrusted: () => true },
    leadership: { isLeader: () => world.isLeader },
    guard: { isStopped: () => false, noteFault: () => {} },
    settleMs: 0,
    upkeepTickets: { settle: () => {}, newestOpen: () => null },
    workerFile: (file) => join(import.meta.dirname, `there is no ${file} worker`),
    onBackup: () => {},
    onChanged: () => {},
  });
  onTestFinished(async () => {
    await runner.stop();
    vi.useRealTimers();
  });
  return {
    world,
    runner,
    logged,
    asked,
    pass: (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000),
  };
}

it('starts no thread for a job without work, and asks less and less often while the database is away', async () => {
  const { world, runner, logged, asked, pass } = runAsking('license-scan');
  await pass(200);
  expect(asked).toEqual([0, 5, 15, 35, 75, 135, 195]);
  expect(logged).toMatchObject([{ level: 50, msg: 'job failed', err: { message: 'the database is away' } }]);
  expect(runner.areFine()).toBe(false);

  world.isAway = false;
  await pass(60);
  expect(logged.slice(1, 3)).toEqual([
    { level: 30, job: 'license-scan', msg: 'job works again' },
    { level: 30, job: 'license-scan', due: false, msg: 'job done' },
  ]);
  expect(runner.areFine()).toBe(true);
  expect(runner.isRunning('license-scan')).toBe(false);
});

it('does not report a job that failed here and runs on another server now', async () => {
  const { world, runner, logged, pass } = runAsking('license-scan', { isShared: true });
  await pass(6);
  expect(runner.areFine()).toBe(false);

  world.isLeader = false;
  await pass(60);
  expect(runner.areFine()).toBe(true);

  // Logged anew if it fails when this server leads again.
  world.isLeader = true;
  await pass(1);
  expect(logged).toMatchObject([{ msg: 'job failed' }, { msg: 'job failed' }]);
  expect(runner.areFine()).toBe(true);
});

it('sends a new delivery at once, although the database was away for long', async () => {
  const { world, runner, asked, pass } = runAsking('webhook-dispatcher', { everySeconds: 3600 });
  await pass(136);
  expect(asked.at(-1)).toBe(135);
  world.isAway = false;
  runner.wakeDispatcher();
  await pass(0);
  expect(asked.slice(-2)).toEqual([135, 136]);
  await pass(60);
  expect(asked.at(-1)).toBe(136);
});
