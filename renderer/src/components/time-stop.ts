// Makes dates reachable with the Tab key, because their tooltip shows the exact time.
import { onMounted, ref, type Ref } from 'vue';

/** What takes the focus or the touch instead of a date in it. */
export const CONTROLS = 'a, button, label, summary, [role="grid"], [role="option"]';

/** @returns the date's `tabindex`: none within a control, which takes the focus itself */
export function useTimeStop(element: Readonly<Ref<HTMLElement | null>>): Readonly<Ref<0 | undefined>> {
  const tabindex = ref<0>();
  onMounted(() => {
    if (element.value?.closest(CONTROLS) === null) tabindex.value = 0;
  });
  return tabindex;
}
