// Which of the servers on one database does the work that is done once for all of them.
import { preciseMonotonicMs } from './shared-time.ts';

/** In a worker thread. */
export interface Leader {
  isLeader(): boolean;
}

export interface Leadership extends Leader {
  /** For worker threads, see `leaderIn`. */
  readonly buffer: SharedArrayBuffer;
  /** @param until in `preciseMonotonicMs` time; a server that was frozen beyond it wakes up without the leadership */
  hold(until: number): void;
  /** Called when the leadership begins or ends. If the server was frozen, the end is reported late. */
  onChange(listener: (isLeader: boolean) => void): void;
}

/** @param buffer of the main thread's `Leadership` */
export function leaderIn(buffer: SharedArrayBuffer): Leader {
  const slots = new Float64Array(buffer);
  return { isLeader: () => preciseMonotonicMs() < (slots[0] ?? 0) };
}

/** @param isAlone whether no other server can use the database; such a server always leads */
export function createLeadership(isAlone: boolean): Leadership {
  const buffer = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const slots = new Float64Array(buffer);
  slots[0] = isAlone ? Infinity : 0;
  const listeners = new Set<(isLeader: boolean) => void>();
  let wasLeader = isAlone;
  const { isLeader } = leaderIn(buffer);
  return {
    buffer,
    isLeader,
    hold(until) {
      slots[0] = until;
      if (isLeader() === wasLeader) return;
      wasLeader = !wasLeader;
      for (const listener of listeners) listener(wasLeader);
    },
    onChange: (listener) => void listeners.add(listener),
  };
}
