// Every job in one list, run by Bree in worker threads.
import { extname, join } from 'node:path';
import type Bree from 'bree';
import type { DatabaseLocation } from '../database/connect.ts';
import type { Logger } from '../platform/logger.ts';

interface Job {
  name: string;
  everySeconds: number;
}

export interface Jobs {
  /** Begins in the background; should that fail, `areFine` says so. */
  start(): void;
  /** Lets what runs finish its batch. */
  stop(): Promise<void>;
  /** Whether each job ended well the last time, and in time. */
  areFine(): boolean;
}

interface Needs {
  location: DatabaseLocation;
  scanSeconds: number;
  logger: Logger;
}

/** A job that takes longer than this many of its intervals is late, though never before two minutes. */
const LATE_AFTER_INTERVALS = 3;
const LEAST_LATE_MS = 120_000;

/** Workers stand beside this file in the sources, and in `jobs/` of the build. */
function workerFile(name: string): string {
  const extension = extname(import.meta.filename);
  return extension === '.ts'
    ? join(import.meta.dirname, `${name}-worker.ts`)
    : join(import.meta.dirname, 'jobs', `${name}-worker.js`);
}

export function createJobs({ location, scanSeconds, logger }: Needs): Jobs {
  const jobs: Job[] = [{ name: 'license-scan', everySeconds: scanSeconds }];
  const endedAt = new Map<string, number>();
  const failed = new Set<string>();

  async function createBree(): Promise<Bree> {
    // Loaded after the server is ready: it is a third of all that is to load.
    const { default: BreeScheduler } = await import('bree');
    return new BreeScheduler({
      root: false,
      logger: false,
      acceptedExtensions: ['.js', '.ts'],
      // Without times of its own: Bree's follow the wall clock, so a clock set back by a day would stop them for one.
      timeout: false,
      jobs: jobs.map(({ name }) => ({
        name,
        path: workerFile(name),
        // Bree takes a path with `(` or `&` in it for source code unless it is told not to.
        worker: { eval: false, workerData: { location } },
      })),
      workerMessageHandler({ name, message }) {
        failed.delete(name);
        endedAt.set(name, performance.now());
        logger.info({ job: name, ...(message as object) }, 'job done');
      },
      errorHandler(error, { name }) {
        failed.add(name);
        logger.error({ job: name, err: error }, 'job failed');
      },
    });
  }

  let scheduler: Promise<Bree> | undefined;
  const timers: NodeJS.Timeout[] = [];

  function keepRunning(bree: Bree, { name, everySeconds }: Job): void {
    // While a run is still under way there is no other: the next interval is soon enough.
    const run = () => void (bree.workers.has(name) ? undefined : bree.run(name));
    run();
    timers.push(setInterval(run, everySeconds * 1000));
  }

  const isFine = ({ name, everySeconds }: Job): boolean => {
    const allowed = Math.max(LEAST_LATE_MS, everySeconds * 1000 * LATE_AFTER_INTERVALS);
    const since = endedAt.get(name);
    return !failed.has(name) && since !== undefined && performance.now() - since < allowed;
  };

  return {
    start() {
      for (const { name } of jobs) endedAt.set(name, performance.now());
      scheduler = createBree().then((bree) => {
        // At once, too: what fell due while nothing ran is told of now.
        for (const job of jobs) keepRunning(bree, job);
        return bree;
      });
      scheduler.catch((error: unknown) => {
        for (const { name } of jobs) failed.add(name);
        logger.error({ err: error as Error }, 'the jobs cannot be started');
      });
    },
    async stop() {
      const bree = await scheduler?.catch(() => undefined);
      for (const timer of timers) clearInterval(timer);
      await bree?.stop();
    },
    areFine: () => jobs.every((job) => isFine(job)),
  };
}
