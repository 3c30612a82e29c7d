// Whether a dialog is open: what is entered or shown there once must not go because something else comes along.
import { computed, onMounted, onUnmounted, ref } from 'vue';

const count = ref(0);

export const isDialogOpen = computed(() => count.value > 0);

/** For a dialog, which is open as long as it is there. */
export function useOpenDialog(): void {
  onMounted(() => (count.value += 1));
  onUnmounted(() => (count.value -= 1));
}
