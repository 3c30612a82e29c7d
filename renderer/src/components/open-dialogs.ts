// Tracks open dialogs: nothing may replace a draft or a one-time secret, and the topmost one shows the results.
import { computed, type ComputedRef, onMounted, onUnmounted, shallowRef } from 'vue';

/** The topmost last. */
const open = shallowRef<readonly symbol[]>([]);

export const isDialogOpen = computed(() => open.value.length > 0);

/** Call it in a dialog: counts it as open while it is mounted. @returns whether it is the topmost one */
export function useOpenDialog(): ComputedRef<boolean> {
  const own = Symbol('dialog');
  onMounted(() => {
    open.value = [...open.value, own];
  });
  onUnmounted(() => {
    open.value = open.value.filter((dialog) => dialog !== own);
  });
  return computed(() => open.value.at(-1) === own);
}
