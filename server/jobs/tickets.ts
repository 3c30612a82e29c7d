// Callers who wait for a run that begins after they asked: each has a number, and a run answers all up to one.

export interface Tickets {
  /** Ends once a run has answered the ticket. @param patienceMs it ends after that at the latest */
  take(patienceMs: number): Promise<void>;
  /** A run is over that was begun when `ticket` was the newest. */
  settle(ticket: number): void;
  /** The newest that still waits; null if none does. */
  newestOpen(): number | null;
}

/** Callers beyond this do not wait: they are answered as if their time were up. */
const MAX_WAITING = 1000;

export function createTickets(): Tickets {
  const waiting = new Map<number, () => void>();
  let last = 0;
  return {
    take(patienceMs) {
      last += 1;
      const ticket = last;
      if (waiting.size >= MAX_WAITING) return Promise.resolve();
      return new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(ticket);
          resolve();
        };
        const timer = setTimeout(end, patienceMs);
        waiting.set(ticket, end);
      });
    },
    settle(answered) {
      for (const [ticket, end] of waiting) if (ticket <= answered) end();
    },
    newestOpen: () => [...waiting.keys()].at(-1) ?? null,
  };
}
