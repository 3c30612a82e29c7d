// Tracks open dialogs, so that nothing replaces a draft or a one-time secret.
import { computed, onMounted, onUnmounted, ref } from 'vue';

const count = ref(0);

export const isDialogOpen = computed(() => count.value > 0);

/** Call it in a dialog: counts it as open while it is mounted. */
export function useOpenDialog(): void {
  onMounted(() => (count.value += 1));
  onUnmounted(() => (count.value -= 1));
}
