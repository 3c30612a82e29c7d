// What servers on one PostgreSQL database tell each other, so that none waits for its next poll. A lost message costs no
// more than that wait.
import { randomUUID } from 'node:crypto';
import type { PostgresWatch } from '#server/database/postgres-watch.ts';
import type { Counts } from '#server/platform/shared-counts.ts';
import { LIVE_TOPICS, type LiveTopic } from '#server/features/live/live-contract.ts';

/** Collects what one change has to tell. */
const COLLECT_MS = 10;

export interface ServerMessage {
  /** What the other server has changed. */
  topics: LiveTopic[];
  /** Whether it has queued deliveries. */
  queued: boolean;
  /** Whether there is a new CRL. */
  crlBuilt: boolean;
  /** Whether it serves a CRL that another server has built. */
  crlServed: boolean;
  /** Sessions of the back office that it has ended. */
  endedSessions: string[];
  /** What it has counted for rate limits. */
  counts: Counts;
}

export interface ServerMessages {
  /** Adds to the next message, which leaves soon. */
  tell(part: Partial<Omit<ServerMessage, 'counts'>>): void;
  /** Tells counts at once, in a separate message. */
  tellCounts(counts: Counts): void;
  /** Receives the messages of the other servers. */
  listen(listener: (message: ServerMessage) => void): void;
}

/** @returns null for what no server of this version has written */
function parse(text: string): (ServerMessage & { from: string }) | null {
  try {
    const { from, topics, ...flags } = JSON.parse(text) as Partial<ServerMessage & { from: string }>;
    if (typeof from !== 'string' || !Array.isArray(topics)) return null;
    return {
      from,
      // A newer server may know more topics.
      topics: topics.filter((topic) => LIVE_TOPICS.includes(topic)),
      queued: flags.queued === true,
      crlBuilt: flags.crlBuilt === true,
      crlServed: flags.crlServed === true,
      endedSessions: flags.endedSessions ?? [],
      counts: flags.counts ?? {},
    };
  } catch {
    return null;
  }
}

const nothing = (): ServerMessage => ({
  topics: [],
  queued: false,
  crlBuilt: false,
  crlServed: false,
  endedSessions: [],
  counts: {},
});

/** @param watch null for a server that shares its database with no other */
export function createServerMessages(
  watch: Pick<PostgresWatch, 'tell' | 'onMessage'> | null,
): ServerMessages {
  if (!watch) return { tell: () => {}, tellCounts: () => {}, listen: () => {} };
  const from = randomUUID();
  let next = nothing();
  let sending: NodeJS.Timeout | undefined;

  function send(): void {
    sending = undefined;
    watch?.tell(JSON.stringify({ from, ...next }));
    next = nothing();
  }

  return {
    tell({ topics = [], queued = false, crlBuilt = false, crlServed = false, endedSessions = [] }) {
      next = {
        topics: [...new Set([...next.topics, ...topics])],
        queued: next.queued || queued,
        crlBuilt: next.crlBuilt || crlBuilt,
        crlServed: next.crlServed || crlServed,
        endedSessions: [...next.endedSessions, ...endedSessions],
        counts: {},
      };
      sending ??= setTimeout(send, COLLECT_MS).unref();
    },
    tellCounts: (counts) => watch.tell(JSON.stringify({ from, ...nothing(), counts })),
    listen(listener) {
      watch.onMessage((text) => {
        const message = parse(text);
        if (message && message.from !== from) listener(message);
      });
    },
  };
}
