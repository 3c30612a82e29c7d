// Lets calls at the same moment share one run of the same work.

export interface SingleFlight<Arguments extends unknown[], Result> {
  /** Starts a run, or joins one. A call that joins a run gives no arguments to it. */
  (...given: Arguments): Promise<Result>;
  /** The run under way; undefined if there is none. */
  current(): Promise<Result> | undefined;
}

interface SingleFlightOptions {
  /** Keeps the first result for all later calls. A run that failed is not kept: the next call starts another. */
  keepResult?: boolean;
}

/**
 * A call joins the run under way and gets its result or its error. The next call after the end starts another run, also
 * when it comes from whoever awaited this one. A run must not await its own flight.
 */
export function singleFlight<Arguments extends unknown[], Result>(
  run: (...given: Arguments) => Promise<Result>,
  { keepResult = false }: SingleFlightOptions = {},
): SingleFlight<Arguments, Result> {
  let current: Promise<Result> | undefined;

  function start(given: Arguments): Promise<Result> {
    // Forgotten before anyone who awaits it goes on. The wrapper turns what `run` throws at once into a rejection.
    return (async () => run(...given))().then(
      (result) => {
        if (!keepResult) current = undefined;
        return result;
      },
      (error: unknown) => {
        current = undefined;
        throw error;
      },
    );
  }

  const share = (...given: Arguments): Promise<Result> => (current ??= start(given));
  return Object.assign(share, { current: () => current });
}

/**
 * Runs one at a time as well, but a call never joins the run under way: it shares the next one with everyone who calls
 * meanwhile. The result therefore reflects everything that was so when they called.
 */
export function freshFlight<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;

  async function startAfter(before: Promise<unknown>): Promise<Result> {
    await before.catch(() => {});
    next = undefined;
    const mine = run();
    running = mine;
    return mine;
  }

  return () => (next ??= startAfter(running));
}
