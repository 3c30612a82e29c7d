// All open live streams.
import type { ServerResponse } from 'node:http';
import { ApiError } from '#server/wire/errors.ts';
import type { LiveEnd, LiveTopic } from './live-contract.ts';
import { createLiveStream, type LiveStream } from './live-stream.ts';
import { singleFlight } from '#server/platform/single-flight.ts';

const KEEP_ALIVE_MS = 15_000;
const LOOK_EVERY_MS = 3000;
/** Limits connections; the windows of a few administrators stay far below. */
const MAX_STREAMS = 20;

export interface Listener {
  /** Undefined for the CLI, which has no session. */
  sessionId: string | undefined;
  /** Whether it may still listen. */
  isSignedIn(): Promise<boolean>;
}

interface Needs {
  version: string;
  /** Whether other servers change the same data: their changes are known only while there are listeners. */
  isShared: boolean;
  /**
   * Returns changes since the last call that were not published. Called periodically while there are listeners.
   * @param isFirst whether earlier changes are irrelevant
   * @returns never rejects
   */
  look(isFirst: boolean): Promise<Iterable<LiveTopic>>;
}

export function createLiveStreams({ version, isShared, look }: Needs) {
  const open = new Map<LiveStream, Listener>();
  let timers: NodeJS.Timeout[] = [];
  const listeners = new Set<(topics: readonly LiveTopic[]) => void>();
  let isClosed = false;
  /** When something last changed, or may have. */
  let changedAt = performance.now();

  function publish(topics: Iterable<LiveTopic>): void {
    const changed = [...topics];
    if (changed.length === 0) return;
    changedAt = performance.now();
    for (const stream of open.keys()) stream.report(changed);
    for (const listener of listeners) listener(changed);
  }

  /** One look at a time; concurrent callers share it. */
  const lookAgain = singleFlight(async (isFirst: boolean) => {
    publish(await look(isFirst));
  });

  function end(stream: LiveStream, reason: LiveEnd['reason']): void {
    open.delete(stream);
    stream.end(reason);
    if (open.size === 0) rest();
  }

  async function keepAlive(): Promise<void> {
    for (const [stream, listener] of open) {
      // While the database does not answer, sessions continue.
      const isSignedIn = await listener.isSignedIn().catch(() => true);
      if (!open.has(stream)) continue;
      if (isSignedIn) stream.keepAlive();
      else end(stream, 'signed_out');
    }
  }

  /** @returns resolves once the current state is known: all later changes are reported */
  async function wake(): Promise<void> {
    timers = [
      setInterval(() => void keepAlive(), KEEP_ALIVE_MS),
      setInterval(() => void lookAgain(false), LOOK_EVERY_MS),
    ];
    await lookAgain(true);
    // What other servers changed before is not known.
    if (isShared) changedAt = performance.now();
  }

  function rest(): void {
    for (const timer of timers) clearInterval(timer);
    timers = [];
  }

  return {
    /**
     * @param beginReply writes the head; called only if the stream is accepted @throws ApiError `unavailable` while
     *   stopping
     */
    open(response: ServerResponse, listener: Listener, beginReply: () => void): void {
      // The client has left meanwhile, and its reply emits no `close` again.
      if (response.destroyed) return;
      if (isClosed) throw new ApiError('unavailable', 'the server is stopping');
      const [oldest] = open.keys();
      if (oldest && open.size >= MAX_STREAMS) end(oldest, 'too_many_streams');
      beginReply();
      const stream = createLiveStream(response);
      const watching = open.size === 0 ? wake() : lookAgain.current();
      open.set(stream, listener);
      void Promise.resolve(watching).then(() =>
        stream.greet({ version, unchanged_ms: Math.floor(performance.now() - changedAt) }),
      );
      response.once('close', () => {
        if (open.delete(stream) && open.size === 0) rest();
      });
    },
    /** Notifies all listeners. */
    publish,
    /** Notifies a listener in this process. @returns a function that removes it */
    listen(listener: (topics: readonly LiveTopic[]) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Ends the streams of a session that has ended. */
    endSession(sessionId: string): void {
      for (const [stream, listener] of open) if (listener.sessionId === sessionId) end(stream, 'signed_out');
    },
    /** Ends all streams and accepts no new ones. */
    close(): void {
      isClosed = true;
      for (const stream of open.keys()) end(stream, 'stopping');
    },
  };
}

export type LiveStreams = ReturnType<typeof createLiveStreams>;
