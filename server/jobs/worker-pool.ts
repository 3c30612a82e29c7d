// The worker threads of the jobs: at most one for each. The only file that knows Bree.

export interface WorkerJob {
  name: string;
  /** An absolute path. */
  file: string;
  workerData: object;
}

interface WorkerEvents {
  onMessage(name: string, message: unknown): void;
  /** Called for what a worker throws and again for the exit that follows. */
  onFailed(name: string, error: Error): void;
  onGone(name: string): void;
}

export interface WorkerPool {
  has(name: string): boolean;
  /** Starts the job's worker unless it has one. The worker exists when this returns. */
  run(name: string): void;
  /** Does nothing if the job has no worker. */
  post(name: string, message: unknown): void;
  postToAll(message: unknown): void;
  stop(): Promise<void>;
}

/** Enough for what a worker leaves behind; V8 would let it grow to over 100 MB. */
const YOUNG_GENERATION_MB = 16;

/**
 * A worker that runs on after a rejection that nobody handles would be in an unknown state, and its job would never be
 * reported as failed. That is what workers do in Electron's utility process, whose mode (warn) they inherit.
 */
const END_ON_UNHANDLED_REJECTION = '--unhandled-rejections=throw';

export async function createWorkerPool(
  jobs: readonly WorkerJob[],
  events: WorkerEvents,
): Promise<WorkerPool> {
  // Loaded with the first job: it is a third of all that a start loads.
  const { default: Bree } = await import('bree');
  const bree = new Bree({
    root: false,
    logger: false,
    acceptedExtensions: ['.js', '.ts'],
    // Bree's own times follow the wall clock, so a clock set back by a day would stop the jobs for a day.
    timeout: false,
    jobs: jobs.map(({ name, file, workerData }) => ({
      name,
      path: file,
      worker: {
        // Bree takes a path with `(` or `&` in it for source code unless it is told not to.
        eval: false,
        workerData,
        execArgv: [END_ON_UNHANDLED_REJECTION],
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      },
    })),
    workerMessageHandler: ({ name, message }) => events.onMessage(name, message),
    errorHandler: (error, { name }) => events.onFailed(name, error as Error),
  });
  // From here on run() makes its worker at once, so that a stop right after it finds that worker.
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
