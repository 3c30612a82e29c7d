// Decides when a request starts. Limits the starts per turn of the event loop, so that a burst does not delay timers,
// other connections or the other listener. Sheds requests while the server is overloaded.

/** About 10 ms of work. */
const STARTS_PER_TURN = 32;

export interface Shedding {
  /** Overload begins when requests have waited this long to be started … */
  waitMs: number;
  /** … for this long without interruption. */
  sustainedMs: number;
  /** During an overload, a peer with this many waiting requests gets further ones rejected. */
  maxWaiting: number;
}

/**
 * A machine that is busy with other programs must not count as overloaded, nor a thousand clients that start at the
 * same time.
 * Short peaks only cost waiting time.
 */
export const DEFAULT_SHEDDING: Shedding = { waitMs: 400, sustainedMs: 2000, maxWaiting: 1024 };

/** Requests are counted per peer, so that a well-behaved client is not affected by a flooding one. */
export interface Peer {
  waiting: number;
}

export interface Task {
  peer: Peer;
  run(): void;
  /** Rejects the request instead of running it. @returns false for a request that is never rejected */
  shed(): boolean;
}

export interface RequestScheduler {
  /** Starts the request now if this turn of the event loop has capacity, otherwise in a later turn. */
  start(task: Task): void;
  /** Starts the request in a later turn, after other requests. */
  startLater(task: Task): void;
}

/**
 * @param shedding null disables shedding
 * @param now monotonic milliseconds
 */
export function createRequestScheduler(
  shedding: Shedding | null,
  now: () => number = () => performance.now(),
): RequestScheduler {
  const queue: { task: Task; since: number }[] = [];
  let startedThisTurn = 0;
  let isScheduled = false;
  let slowSince: number | undefined;
  let isOverloaded = false;

  function measureWait(): void {
    const head = queue[0];
    if (!head || !shedding) {
      isOverloaded = false;
      slowSince = undefined;
      return;
    }
    const time = now();
    if (time - head.since < shedding.waitMs) slowSince = undefined;
    else slowSince ??= time;
    // An overload lasts until the queue is empty. Otherwise it would end with each rejected request.
    isOverloaded ||= slowSince !== undefined && time - slowSince >= shedding.sustainedMs;
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(takeTurn);
  }

  function takeTurn(): void {
    isScheduled = false;
    startedThisTurn = 0;
    measureWait();
    for (const { task } of queue.splice(0, STARTS_PER_TURN)) {
      startedThisTurn += 1;
      task.peer.waiting -= 1;
      task.run();
    }
    if (queue.length > 0) schedule();
    else measureWait();
  }

  function startLater(task: Task): void {
    if (isOverloaded && shedding && task.peer.waiting >= shedding.maxWaiting && task.shed()) return;
    queue.push({ task, since: now() });
    task.peer.waiting += 1;
    schedule();
  }

  return {
    start(task) {
      // The count is reset in the next turn, scheduled only when needed: lightly used turns get no timer.
      if (startedThisTurn >= STARTS_PER_TURN || queue.length > 0) {
        startLater(task);
        return;
      }
      startedThisTurn += 1;
      task.run();
    },
    startLater,
  };
}
