// What changed on the server shows by itself: each topic that it names is asked for again where it is on screen.
import { useQueryCache } from '@pinia/colada';
import { onScopeDispose, watch } from 'vue';
import type { LiveTopic } from '../../../server/live/live-contract.ts';
import { useHealth } from '../features/health/health-state.ts';

const ADDRESS = '/admin/api/live/';

/**
 * Every query's key begins with the topic that it changes with.
 * @param isSignedIn nobody else is told anything
 */
export function useLiveUpdates(isSignedIn: () => boolean): void {
  const queries = useQueryCache();
  const health = useHealth();
  let source: EventSource | null = null;

  function refresh(topics: readonly LiveTopic[] | null): void {
    if (topics === null) void queries.invalidateQueries();
    else for (const topic of topics) void queries.invalidateQueries({ key: [topic] });
  }

  function listen(): void {
    source = new EventSource(ADDRESS);
    let isFirst = true;
    source.addEventListener('hello', () => {
      // Whatever happened while nobody listened.
      if (!isFirst) refresh(null);
      isFirst = false;
    });
    source.addEventListener('change', ({ data }: MessageEvent<string>) => {
      refresh((JSON.parse(data) as { topics: LiveTopic[] }).topics);
    });
  }

  function stop(): void {
    source?.close();
    source = null;
  }

  // A stream that the server refused is not tried again by the browser; the health check finds out when to.
  watch(
    () => isSignedIn() && health.connection === 'answering',
    (canListen, couldListen) => {
      if (!canListen) return stop();
      listen();
      if (couldListen === false) refresh(null);
    },
    { immediate: true },
  );
  onScopeDispose(stop);
}
