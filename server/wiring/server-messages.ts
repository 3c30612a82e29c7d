// What servers on one PostgreSQL database tell each other, so that none waits for its next poll. A lost message costs no
// more than that wait.
import { randomUUID } from 'node:crypto';
import type { PostgresWatch } from '#server/database/postgres-watch.ts';
import { LIVE_TOPICS, type LiveTopic } from '#server/features/live/live-contract.ts';

/** Collects what one change has to tell. */
const COLLECT_MS = 10;

interface Message {
  from: string;
  /** What the other server has changed. */
  topics: LiveTopic[];
  /** Whether it has queued deliveries. */
  queued: boolean;
}

export interface ServerMessages {
  changed(topics: readonly LiveTopic[]): void;
  deliveriesQueued(): void;
  /** Receives the messages of the other servers. */
  listen(listener: (message: Pick<Message, 'topics' | 'queued'>) => void): void;
}

/** @returns null for what no server of this version has written */
function parse(text: string): Message | null {
  try {
    const { from, topics, queued } = JSON.parse(text) as Partial<Message>;
    if (typeof from !== 'string' || !Array.isArray(topics)) return null;
    // A newer server may know more topics.
    return { from, topics: topics.filter((topic) => LIVE_TOPICS.includes(topic)), queued: queued === true };
  } catch {
    return null;
  }
}

/** @param watch null for a server that shares its database with no other */
export function createServerMessages(
  watch: Pick<PostgresWatch, 'tell' | 'onMessage'> | null,
): ServerMessages {
  if (!watch) return { changed: () => {}, deliveriesQueued: () => {}, listen: () => {} };
  const from = randomUUID();
  const topics = new Set<LiveTopic>();
  let queued = false;
  let sending: NodeJS.Timeout | undefined;

  function send(): void {
    sending = undefined;
    watch?.tell(JSON.stringify({ from, topics: [...topics], queued } satisfies Message));
    topics.clear();
    queued = false;
  }

  function soon(): void {
    sending ??= setTimeout(send, COLLECT_MS).unref();
  }

  return {
    changed(changed) {
      if (changed.length === 0) return;
      for (const topic of changed) topics.add(topic);
      soon();
    },
    deliveriesQueued() {
      queued = true;
      soon();
    },
    listen(listener) {
      watch.onMessage((text) => {
        const message = parse(text);
        if (message && message.from !== from) listener(message);
      });
    },
  };
}
