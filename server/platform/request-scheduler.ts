// Decides when a request starts: a bounded number per turn of the event loop, so that no burst delays timers, other
// connections or the other listener, and no more than can be answered in time when the server is overloaded.

/** About 10 ms of work. */
const STARTS_PER_TURN = 32;

export interface Shedding {
  /** Overload begins when requests have waited this long to be started … */
  waitMs: number;
  /** … without interruption for this long. */
  sustainedMs: number;
  /** During an overload, further requests of a peer that has this many waiting are shed. */
  maxWaiting: number;
}

/**
 * A machine that others keep busy must not look overloaded, nor a thousand clients that start at the same moment.
 * Short peaks cost waiting time only.
 */
export const DEFAULT_SHEDDING: Shedding = { waitMs: 400, sustainedMs: 2000, maxWaiting: 1024 };

/** Requests are counted by the peer they come from, so that a polite client does not pay for a flooding one. */
export interface Peer {
  waiting: number;
}

export interface Task {
  peer: Peer;
  run(): void;
  /** Refuses the request instead of running it. @returns false for one that is never refused */
  shed(): boolean;
}

export interface RequestScheduler {
  /** Starts the request now if this turn of the event loop has room, otherwise in a later one. */
  start(task: Task): void;
  /** Starts the request in a later turn, after others have had theirs. */
  startLater(task: Task): void;
}

/**
 * @param shedding null: nothing is ever shed
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
    // Once begun, an overload lasts until the queue has been empty, or it would come and go with each request shed.
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
      // The count starts again with the first turn that is taken, which keeps lightly used turns free of a timer.
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
