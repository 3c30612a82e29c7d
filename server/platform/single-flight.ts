// Lets concurrent calls share one run of the same work.

export interface SingleFlight<Arguments extends unknown[], Result> {
  /** Starts a run, or joins the current one. When joining, the arguments are ignored. */
  (...given: Arguments): Promise<Result>;
  /** The current run, or undefined. */
  current(): Promise<Result> | undefined;
}

interface SingleFlightOptions {
  /** Keeps the first result for all later calls. A failed run is not kept: the next call starts another. */
  keepResult?: boolean;
}

/**
 * A call joins the current run and gets its result or error. The next call after its end starts another run, even if
 * the call comes from code that awaited this one. A run must not await its own flight.
 */
export function singleFlight<Arguments extends unknown[], Result>(
  run: (...given: Arguments) => Promise<Result>,
  { keepResult = false }: SingleFlightOptions = {},
): SingleFlight<Arguments, Result> {
  let current: Promise<Result> | undefined;

  function start(given: Arguments): Promise<Result> {
    // Cleared before code that awaits the run continues. The async wrapper turns a synchronous throw into a rejection.
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
 * Also runs one at a time, but a call never joins a run in progress. It shares the next run with other callers, so the
 * result reflects everything that happened before the call.
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
