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
        showToast(t('common.unreachable'), { tone: 'bad' });
        emit(closing);
      });
      return () => null;
    },
  });
  return defineAsyncComponent({ loader: () => load().catch(load), errorComponent: notLoaded });
}

/** Safari has no idle callbacks. */
function whenIdle(run: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(run);
  else setTimeout(run, 500);
}

/** Loads code before it is asked for. What fails is loaded when it is asked for. */
export function prefetchWhen(isShown: () => boolean, loads: readonly (() => Promise<unknown>)[]): void {
  watch(
    isShown,
    (shown) => {
      if (shown) whenIdle(() => void Promise.allSettled(loads.map((load) => load())));
    },
    { immediate: true },
  );
}
