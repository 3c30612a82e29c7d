import { defineAsyncComponent } from 'vue';
import { afterPaint } from '../after-paint.ts';

const load = () => import('./LinePlot.vue');

/** For a screen whose figures are charts: loads the library while they are on their way. */
export const preloadLinePlot = (): void => void load();

/** After the first figures, because the library is larger than a screen. */
export const LinePlot = defineAsyncComponent(async () => {
  await afterPaint();
  return load();
});
