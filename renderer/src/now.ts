// The current time for relative times. One clock for the entire page.
import { readonly, ref, type Ref } from 'vue';

const TICK_MS = 15_000;
const now = ref(Date.now());
setInterval(() => {
  now.value = Date.now();
}, TICK_MS);

/** Epoch milliseconds, at most 15 seconds old. */
export function useNow(): Readonly<Ref<number>> {
  return readonly(now);
}
