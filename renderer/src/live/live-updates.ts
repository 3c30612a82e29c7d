// What changed on the server shows by itself: each topic that it names is asked for again where it is on screen.
import { type UseQueryEntry, useQueryCache } from '@pinia/colada';
import { onScopeDispose, ref, watch } from 'vue';
import type { LiveChange, LiveEnd, LiveTopic } from '#server/features/live/live-contract.ts';
import { useHealth } from '../features/health/health-state.ts';
import { useSession } from '../features/admin-session/admin-session-state.ts';

const ADDRESS = '/admin/api/live/';

/** Whether somebody may be looking. A stream takes one of the six connections that browsers allow to a server. */
const isSeen = ref(!document.hidden);
document.addEventListener('visibilitychange', () => {
  isSeen.value = !document.hidden;
});

/** A server that takes longer than this to begin the stream has other troubles, which the health check is to find. */
const BEGINS_WITHIN_MS = 1000;

/**
 * Every query's key begins with the topic that it changes with, or with `any` if it shows something of everything.
 * @returns when the stream has begun, or is not about to: what is asked for before that is asked for twice
 */
export function useLiveUpdates(): Promise<void> {
  const queries = useQueryCache();
  const health = useHealth();
  const session = useSession();
  let source: EventSource | null = null;
  let isListening = false;
  /** Last asked for while somebody listened: what has changed since was told. */
  let followed = new WeakSet<UseQueryEntry>();
  const begun = Promise.withResolvers<void>();
  setTimeout(begun.resolve, BEGINS_WITHIN_MS);

  queries.$onAction(({ name, args }) => {
    if (name !== 'fetch') return;
    if (isListening) followed.add(args[0]);
    else followed.delete(args[0]);
  });

  function refresh(topics: readonly LiveTopic[]): void {
    for (const topic of [...topics, 'any']) void queries.invalidateQueries({ key: [topic] });
  }

  function lose(): void {
    isListening = false;
    followed = new WeakSet();
    begun.resolve();
  }

  function stop(): void {
    source?.close();
    source = null;
    lose();
  }

  function listen(): void {
    source = new EventSource(ADDRESS);
    source.addEventListener('hello', () => {
      isListening = true;
      // Nobody was told of what happened since they were asked for.
      void queries.invalidateQueries({ predicate: (entry) => !followed.has(entry) });
      begun.resolve();
    });
    source.addEventListener('change', ({ data }: MessageEvent<string>) => {
      refresh((JSON.parse(data) as LiveChange).topics);
    });
    source.addEventListener('end', ({ data }: MessageEvent<string>) => {
      // Coming back at once would end somebody else's, and theirs this one again.
      if ((JSON.parse(data) as LiveEnd).reason === 'too_many_streams') stop();
    });
    source.addEventListener('error', lose);
  }

  // Begins with the page, so that what is asked for first is followed already. A stream that the server refused is not
  // tried again by the browser; the health check and the session find out when to.
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
