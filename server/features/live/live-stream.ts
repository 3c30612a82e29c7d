// One client's stream: what changed, at most once a second, and no more than the client takes.
import type { ServerResponse } from 'node:http';
import type { LiveChange, LiveEnd, LiveHello, LiveTopic } from './live-contract.ts';

/** A screen that is redrawn more often helps nobody. */
const LEAST_INTERVAL_MS = 1000;
/** How long a browser waits before it connects again. */
const RECONNECT_MS = 3000;

export interface LiveStream {
  /** Says hello; what it is told before waits until then. */
  greet(hello: LiveHello): void;
  tell(topics: Iterable<LiveTopic>): void;
  /** Shows both sides that the connection is there; drops a client that has not taken what it was sent last. */
  keepAlive(): void;
  end(reason: LiveEnd['reason']): void;
}

/** @param response its head is written; nothing else writes to it */
export function createLiveStream(response: ServerResponse): LiveStream {
  const waiting = new Set<LiveTopic>();
  let sentAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let isGreeted = false;

  function write(event: string, data: LiveHello | LiveChange | LiveEnd): void {
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  function send(): void {
    timer = undefined;
    // Whoever reads slowly gets one message for all that was to tell meanwhile, when there is room again.
    if (!isGreeted || waiting.size === 0 || response.writableNeedDrain) return;
    sentAt = performance.now();
    write('change', { topics: [...waiting] });
    waiting.clear();
  }

  /** Never at the same moment: what one commit changes is told in one message. */
  function sendSoon(): void {
    timer ??= setTimeout(send, Math.max(0, sentAt + LEAST_INTERVAL_MS - performance.now()));
  }

  response.on('drain', sendSoon);
  response.once('close', () => clearTimeout(timer));
  response.write(`retry: ${RECONNECT_MS}\n`);

  return {
    greet(hello) {
      if (response.destroyed || response.writableEnded) return;
      isGreeted = true;
      write('hello', hello);
      sendSoon();
    },
    tell(topics) {
      for (const topic of topics) waiting.add(topic);
      sendSoon();
    },
    keepAlive() {
      if (response.writableNeedDrain) response.destroy();
      else response.write(': keep-alive\n\n');
    },
    end(reason) {
      clearTimeout(timer);
      if (response.writableNeedDrain) {
        response.destroy();
        return;
      }
      write('end', { reason });
      response.end();
    },
  };
}
