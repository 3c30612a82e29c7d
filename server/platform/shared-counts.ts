// Adds up the counts of rate limits over the servers on one database: ten times a second, each tells the others what it
// has counted.

/** By limit and key. */
export type Counts = Record<string, Record<string, number>>;

const TELL_EVERY_MS = 100;
/** PostgreSQL carries at most 8,000 bytes. */
const MAX_BYTES = 7000;
/** Bounds what a flood from many networks costs. Further counts wait for the next turn. */
const MESSAGES_PER_TURN = 4;
/** Beyond this, counts of further keys stay with this server. */
const MAX_WAITING = 10_000;

export interface SharedCounts {
  /**
   * @param onOthers receives what other servers have counted
   * @returns call it with each key that this server counts
   */
  share(limit: string, onOthers: (key: string, count: number) => void): (key: string) => void;
}

/** For a server that shares its database with no other. */
export const OWN_COUNTS: SharedCounts = { share: () => () => {} };

interface Needs {
  tell(counts: Counts): void;
  listen(listener: (counts: Counts) => void): void;
}

export function createSharedCounts({ tell, listen }: Needs): SharedCounts {
  const waiting = new Map<string, { limit: string; key: string; count: number }>();
  const receivers = new Map<string, (key: string, count: number) => void>();
  let timer: NodeJS.Timeout | undefined;

  /** As many counts as fit into a message. */
  function takeSome(): Counts {
    const counts: Counts = {};
    let bytes = 0;
    for (const [id, { limit, key, count }] of waiting) {
      bytes += Buffer.byteLength(JSON.stringify(key)) + limit.length + 16;
      if (bytes > MAX_BYTES) break;
      (counts[limit] ??= {})[key] = count;
      waiting.delete(id);
    }
    return counts;
  }

  function turn(): void {
    timer = undefined;
    for (let sent = 0; sent < MESSAGES_PER_TURN && waiting.size > 0; sent += 1) tell(takeSome());
    if (waiting.size > 0) wait();
  }

  function wait(): void {
    timer ??= setTimeout(turn, TELL_EVERY_MS).unref();
  }

  listen((counts) => {
    for (const [limit, byKey] of Object.entries(counts)) {
      const receive = receivers.get(limit);
      if (receive) for (const [key, count] of Object.entries(byKey)) receive(key, count);
    }
  });

  return {
    share(limit, onOthers) {
      receivers.set(limit, onOthers);
      return (key) => {
        const id = `${limit} ${key}`;
        const known = waiting.get(id);
        if (known) known.count += 1;
        else if (waiting.size < MAX_WAITING) waiting.set(id, { limit, key, count: 1 });
        wait();
      };
    },
  };
}
