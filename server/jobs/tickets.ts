// Callers that wait for a run that begins after their request. Each has a number, and a run answers all numbers up to
// one.

export interface Tickets {
  /** Resolves when a run has answered the ticket. @param timeoutMs resolves after this time at the latest */
  take(timeoutMs: number): Promise<void>;
  /** Call it when a run that began with `ticket` as the newest has succeeded. */
  settle(ticket: number): void;
  /** No run follows: resolves all tickets, also those that are taken later, as if their time were up. */
  close(): void;
  /** The newest ticket; null if a run has answered it. Its caller may no longer wait, but the run is still needed. */
  newestOpen(): number | null;
}

/** Further callers do not wait, as if their time were up. */
const MAX_WAITING = 1000;

export function createTickets(): Tickets {
  const waiting = new Map<number, () => void>();
  let last = 0;
  let lastAnswered = 0;
  let isClosed = false;
  return {
    take(timeoutMs) {
      last += 1;
      const ticket = last;
      if (isClosed || waiting.size >= MAX_WAITING) return Promise.resolve();
      return new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(ticket);
          resolve();
        };
        const timer = setTimeout(end, timeoutMs);
        waiting.set(ticket, end);
      });
    },
    settle(answered) {
      lastAnswered = Math.max(lastAnswered, answered);
      for (const [ticket, end] of waiting) if (ticket <= answered) end();
    },
    close() {
      isClosed = true;
      for (const end of waiting.values()) end();
    },
    newestOpen: () => (last > lastAnswered ? last : null),
  };
}
