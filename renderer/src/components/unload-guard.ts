// The browser asks before the page is left, in its own words, while something would be lost with it.
import { onScopeDispose, watch } from 'vue';

/** Listens only while it is needed: browsers keep a page that listens out of the back/forward cache. */
export function useUnloadGuard(isNeeded: () => boolean): void {
  let listening: AbortController | undefined;
  const stop = () => listening?.abort();
  watch(
    isNeeded,
    (needed) => {
      stop();
      if (!needed) return;
      listening = new AbortController();
      addEventListener('beforeunload', (event) => event.preventDefault(), { signal: listening.signal });
    },
    { immediate: true },
  );
  onScopeDispose(stop, true);
}
