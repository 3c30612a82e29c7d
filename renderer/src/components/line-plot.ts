import { defineAsyncComponent } from 'vue';
import { afterPaint } from '../after-paint.ts';

/** After the first figures, because the library is larger than a screen. */
export const LinePlot = defineAsyncComponent(async () => {
  await afterPaint();
  return import('./LinePlot.vue');
});
