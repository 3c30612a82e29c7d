import { defineAsyncComponent } from 'vue';
import { afterPaint } from '../after-paint.ts';

const load = () => import('./LinePlot.vue');
let isAwaited = false;

/** For a screen whose figures are charts: loads the library while they are on their way. */
export function preloadLinePlot(): void {
  isAwaited = true;
  // The chart reports what cannot be loaded.
  load().catch(() => {});
}

/** Elsewhere after the first figures, because the library is larger than a screen. */
export const LinePlot = defineAsyncComponent(async () => {
  if (!isAwaited) await afterPaint();
  return load();
});
