// The worker threads of the jobs, at most one per job. The only file that uses Bree.

export interface WorkerJob {
  name: string;
  /** An absolute path. */
  file: string;
  workerData: object;
}

interface WorkerEvents {
  onMessage(name: string, message: unknown): void;
  /** Called for an error in a worker, and again for the exit that follows. */
  onFailed(name: string, error: Error): void;
  onGone(name: string): void;
}

export interface WorkerPool {
  has(name: string): boolean;
  /** Starts the job's worker unless it is running. The worker exists when this returns. */
  run(name: string): void;
  /** Does nothing if the job has no worker. */
  post(name: string, message: unknown): void;
  postToAll(message: unknown): void;
  stop(): Promise<void>;
}

/** Enough for a worker's garbage; V8 would let it grow to over 100 MB. */
const YOUNG_GENERATION_MB = 16;

/**
 * Without this, a worker would continue in an unknown state after an unhandled rejection, and its job would never be
 * reported as failed: workers in Electron's utility process inherit its mode (warn).
 */
const END_ON_UNHANDLED_REJECTION = '--unhandled-rejections=throw';

export async function createWorkerPool(
  jobs: readonly WorkerJob[],
  events: WorkerEvents,
): Promise<WorkerPool> {
  // Loaded with the first job, because it accounts for a third of the modules loaded at the start.
  const { default: Bree } = await import('bree');
  const bree = new Bree({
    root: false,
    logger: false,
    acceptedExtensions: ['.js', '.ts'],
    // Bree's own timers follow the wall clock, so setting the clock back by a day would stop the jobs for a day.
    timeout: false,
    jobs: jobs.map(({ name, file, workerData }) => ({
      name,
      path: file,
      worker: {
        // By default, Bree treats a path that contains `(` or `&` as source code.
        eval: false,
        workerData,
        execArgv: [END_ON_UNHANDLED_REJECTION],
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      },
    })),
    workerMessageHandler: ({ name, message }) => events.onMessage(name, message),
    errorHandler: (error, { name }) => events.onFailed(name, error as Error),
  });
  // From here on, run() creates its worker synchronously, so that a stop right after it finds the worker.
  await (bree as typeof bree & { init(): Promise<void> }).init();
  bree.on('worker deleted', (name) => events.onGone(name));
  return {
    has: (name) => bree.workers.has(name),
    run(name) {
      if (!bree.workers.has(name)) void bree.run(name);
    },
    post: (name, message) => bree.workers.get(name)?.postMessage(message),
    postToAll(message) {
      for (const worker of bree.workers.values()) worker.postMessage(message);
    },
    stop: () => bree.stop(),
  };
}
