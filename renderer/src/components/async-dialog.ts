// Dialogs and bars whose code is loaded on demand, because the list must appear first.
import { type Component, defineAsyncComponent, defineComponent, onMounted, watch } from 'vue';
import { useI18n } from 'vue-i18n';
import { showToast } from './toasts.ts';

/**
 * Tries twice. If the code cannot be loaded, a toast says so and the dialog closes, so that it can be opened again.
 *
 * @param closing the event upon which the screen removes it
 */
export function asyncDialog<Dialog extends Component>(
  load: () => Promise<{ default: Dialog }>,
  closing = 'close',
): Dialog {
  const notLoaded = defineComponent({
    inheritAttrs: false,
    emits: [closing],
    setup(_props, { emit }) {
      const { t } = useI18n();
      onMounted(() => {
        showToast(t('common.notLoaded'), { tone: 'bad' });
        emit(closing);
      });
      return () => null;
    },
  });
  return defineAsyncComponent({ loader: () => load().catch(load), errorComponent: notLoaded });
}

/** After this long without input, the page has shown what the user typed or clicked. */
const QUIET_MS = 2000;
const INPUT = ['input', 'keydown', 'pointerdown', 'wheel'] as const;

/** @returns stops waiting */
function whenQuiet(run: () => void): () => void {
  const waiting = new AbortController();
  const { signal } = waiting;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function wait(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      waiting.abort();
      run();
    }, QUIET_MS);
  }
  for (const type of INPUT) addEventListener(type, wait, { capture: true, passive: true, signal });
  signal.addEventListener('abort', () => clearTimeout(timer));
  wait();
  return () => waiting.abort();
}

/**
 * Loads code before it is asked for, in a pause of the user: loading and running it would delay what is about to be
 * shown. What fails is loaded when it is asked for.
 */
export function prefetchWhenQuiet(isShown: () => boolean, loads: readonly (() => Promise<unknown>)[]): void {
  watch(
    isShown,
    (shown, _before, onCleanup) => {
      if (shown) onCleanup(whenQuiet(() => void Promise.allSettled(loads.map((load) => load()))));
    },
    { immediate: true },
  );
}
