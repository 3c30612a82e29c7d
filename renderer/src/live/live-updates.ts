// What changed on the server shows by itself: each topic that it names is asked for again where it is on screen.
import { useQueryCache } from '@pinia/colada';
import { onScopeDispose, ref, watch } from 'vue';
import type { LiveChange, LiveEnd, LiveTopic } from '../../../server/live/live-contract.ts';
import { useHealth } from '../features/health/health-state.ts';

const ADDRESS = '/admin/api/live/';

/** Whether somebody may be looking. A stream takes one of the six connections that browsers allow to a server. */
const isSeen = ref(!document.hidden);
document.addEventListener('visibilitychange', () => {
  isSeen.value = !document.hidden;
});

/**
 * Every query's key begins with the topic that it changes with, or with `any` if it shows something of everything.
 * @param isSignedIn nobody else is told anything
 */
export function useLiveUpdates(isSignedIn: () => boolean): void {
  const queries = useQueryCache();
  const health = useHealth();
  let source: EventSource | null = null;

  function refresh(topics: readonly LiveTopic[]): void {
    for (const topic of [...topics, 'any']) void queries.invalidateQueries({ key: [topic] });
  }

  function stop(): void {
    source?.close();
    source = null;
  }

  function listen(): void {
    source = new EventSource(ADDRESS);
    source.addEventListener('hello', () => {
      // Whatever happened while nobody listened; at the start, too, since what is on screen was asked for.
      void queries.invalidateQueries();
    });
    source.addEventListener('change', ({ data }: MessageEvent<string>) => {
      refresh((JSON.parse(data) as LiveChange).topics);
    });
    source.addEventListener('end', ({ data }: MessageEvent<string>) => {
      // Coming back at once would end somebody else's, and theirs this one again.
      if ((JSON.parse(data) as LiveEnd).reason === 'too_many_streams') stop();
    });
  }

  // A stream that the server refused is not tried again by the browser; the health check finds out when to.
  watch(
    () => isSignedIn() && isSeen.value && health.connection === 'answering',
    (canListen) => {
      stop();
      if (canListen) listen();
    },
    { immediate: true },
  );
  onScopeDispose(stop);
}
