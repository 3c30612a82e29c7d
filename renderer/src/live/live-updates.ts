// Live updates: refetches visible queries when the server publishes their topic.
import { type UseQueryEntry, useQueryCache } from '@pinia/colada';
import { onScopeDispose, ref, watch } from 'vue';
import type { LiveChange, LiveEnd, LiveHello, LiveTopic } from '#server/features/live/live-contract.ts';
import { useHealth } from '../features/health/health-state.ts';
import { useSession } from '../features/admin-session/admin-session-state.ts';
import {
  dropEarlyReplies,
  helloOf,
  isUnchangedSince,
  LIVE_ADDRESS,
  takeOpeningStream,
} from '../opening/early-replies.ts';

declare module '@pinia/colada' {
  interface TypesConfig {
    queryMeta: {
      /** Whether a change of a topic that the query's key does not begin with concerns its data. */
      isConcerned?(topic: LiveTopic, data: unknown): boolean;
    };
  }
}

/** Whether the page is visible. A stream takes one of the six connections that browsers allow per server. */
const isSeen = ref(!document.hidden);
document.addEventListener('visibilitychange', () => {
  isSeen.value = !document.hidden;
});

/** If the stream takes longer than this, the health check is responsible for finding the cause. */
const STREAM_TIMEOUT_MS = 1000;

/**
 * The key of every query begins with its topic, or with `any` if it depends on all topics. Its `meta` names others.
 * @returns resolves when the stream is open or has failed; queries that start earlier are fetched twice
 */
export function useLiveUpdates(): Promise<void> {
  const queries = useQueryCache();
  const health = useHealth();
  const session = useSession();
  let source: EventSource | null = null;
  let isListening = false;
  /** When the first figures were requested; null once `hello` has shown whether they are still current. */
  let openedAt: number | null = null;
  /** Fetched while the stream was open, so no change was missed. */
  let followed = new WeakSet<UseQueryEntry>();
  const begun = Promise.withResolvers<void>();
  setTimeout(begun.resolve, STREAM_TIMEOUT_MS);

  queries.$onAction(({ name, args }) => {
    if (name !== 'fetch') return;
    if (isListening || openedAt !== null) followed.add(args[0]);
    else followed.delete(args[0]);
  });

  /** The call of an entry after which it is fetched again. */
  const awaited = new WeakMap<UseQueryEntry, UseQueryEntry['pending']>();

  function refetchAfterwards(entry: UseQueryEntry): void {
    const { pending } = entry;
    if (pending === null || awaited.get(entry) === pending) return;
    awaited.set(entry, pending);
    const goOn = () => {
      if (awaited.get(entry) !== pending) return;
      awaited.delete(entry);
      refetch((candidate) => candidate === entry);
    };
    // A list that wants its next page has its turn before.
    const goOnSoon = () => setTimeout(goOn);
    pending.refreshCall.then(goOnSoon, goOnSoon);
  }

  /** Does not cut off what is being fetched: a long list would never be complete while changes keep coming. */
  function refetch(isMeant: (entry: UseQueryEntry) => boolean): void {
    for (const entry of queries.getEntries({ predicate: isMeant })) refetchAfterwards(entry);
    void queries.invalidateQueries({ predicate: (entry) => entry.pending === null && isMeant(entry) });
  }

  function refresh(topics: readonly LiveTopic[]): void {
    const roots: unknown[] = [...topics, 'any'];
    refetch(({ key, meta, state }) => {
      const { data } = state.value;
      const isConcerned = (topic: LiveTopic) => data !== undefined && meta.isConcerned?.(topic, data);
      return roots.includes(key[0]) || topics.some(isConcerned);
    });
  }

  function lose(): void {
    dropEarlyReplies();
    isListening = false;
    openedAt = null;
    followed = new WeakSet();
    begun.resolve();
  }

  function stop(): void {
    source?.close();
    source = null;
    lose();
  }

  function greet(hello: LiveHello): void {
    // A reply from before the stream would count as followed.
    if (openedAt === null) dropEarlyReplies();
    else if (!isUnchangedSince(openedAt, hello)) followed = new WeakSet();
    openedAt = null;
    isListening = true;
    // The stream was closed, so changes may have been missed.
    void queries.invalidateQueries({ predicate: (entry) => !followed.has(entry) });
    begun.resolve();
  }

  function listen(): void {
    const opened = takeOpeningStream();
    source = opened?.source ?? new EventSource(LIVE_ADDRESS);
    openedAt = opened?.askedAt ?? null;
    if (opened?.hello) greet(opened.hello);
    source.addEventListener('hello', (message: MessageEvent<string>) => greet(helloOf(message)));
    source.addEventListener('change', ({ data }: MessageEvent<string>) => {
      dropEarlyReplies();
      refresh((JSON.parse(data) as LiveChange).topics);
    });
    source.addEventListener('end', ({ data }: MessageEvent<string>) => {
      // Reconnecting immediately would end another page's stream, which would then end this one again.
      if ((JSON.parse(data) as LiveEnd).reason === 'too_many_streams') stop();
    });
    source.addEventListener('error', lose);
  }

  // Starts with the page, so that the first queries are already followed. The browser does not retry a refused
  // stream; the health check and the session trigger the next attempt.
  watch(
    () => [isSeen.value && session.mayBeSignedIn && health.connection !== 'away', session.phase] as const,
    ([canListen]) => {
      if (!canListen) stop();
      else if (source === null || source.readyState === EventSource.CLOSED) listen();
    },
    { immediate: true },
  );
  onScopeDispose(stop);
  return begun.promise;
}
