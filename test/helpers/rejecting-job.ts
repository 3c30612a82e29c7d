// Runs a job whose worker leaves a rejection unhandled, in a process that only warns of these. Prints what the job's runner logs.
import { join } from 'node:path';
import { pino } from 'pino';
import { type JobRunner, startJobRunner } from '#server/jobs/job-runner.ts';

const job = {
  name: 'rejecting',
  everySeconds: 3600,
  settleMs: () => 0,
  needsTrustedClock: false,
  isShared: false,
  workerData: {},
};

const runner: JobRunner = startJobRunner([job], {
  logger: pino(
    { base: null, timestamp: false },
    {
      write(line: string) {
        process.stdout.write(line);
        void runner.stop();
      },
    },
  ),
  leadership: { isLeader: () => true },
  clockGuard: { isTrusted: () => true },
  guard: { isStopped: () => false, noteFault: () => {} },
  settleMs: 0,
  upkeepTickets: { settle: () => {}, newestOpen: () => null },
  workerFile: (name) => join(import.meta.dirname, `${name}-worker.ts`),
  onBackup: () => {},
  onChanged: () => {},
});
