// The time, for what is shown relative to it. One clock for the whole page.
import { readonly, ref, type Ref } from 'vue';

const TICK_MS = 15_000;
const now = ref(Date.now());
setInterval(() => {
  now.value = Date.now();
}, TICK_MS);

/** Epoch milliseconds, within a quarter of a minute. */
export function useNow(): Readonly<Ref<number>> {
  return readonly(now);
}
