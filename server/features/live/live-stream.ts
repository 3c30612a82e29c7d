// One client's stream of changes: at most one message per second, and no more than the client reads.
import type { ServerResponse } from 'node:http';
import type { LiveChange, LiveEnd, LiveHello, LiveTopic } from './live-contract.ts';

/** Redrawing a screen more often has no benefit. */
const LEAST_INTERVAL_MS = 1000;
/** How long a browser waits before it reconnects. */
const RECONNECT_MS = 3000;

export interface LiveStream {
  /** Sends the greeting. Earlier changes wait until then. */
  greet(hello: LiveHello): void;
  report(topics: Iterable<LiveTopic>): void;
  /** Shows both sides that the connection works. Drops a client that has not read the last message. */
  keepAlive(): void;
  end(reason: LiveEnd['reason']): void;
}

/** @param response its head has been written; nothing else may write to it */
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
    // A slow client gets one message with all changes once it can read again.
    if (!isGreeted || waiting.size === 0 || response.writableNeedDrain) return;
    sentAt = performance.now();
    write('change', { topics: [...waiting] });
    waiting.clear();
  }

  /** Delayed, so that the changes of one commit share a message. */
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
    report(topics) {
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
