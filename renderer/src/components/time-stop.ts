// Where the keyboard stops at a date, for its exact time.
import { onMounted, ref, type Ref } from 'vue';

const CONTROLS = 'a, button, label, summary, [role="grid"], [role="option"]';

/** @returns its `tabindex`: none if it is part of a control, which has the focus itself */
export function useTimeStop(element: Readonly<Ref<HTMLElement | null>>): Readonly<Ref<0 | undefined>> {
  const tabindex = ref<0>();
  onMounted(() => {
    if (element.value?.closest(CONTROLS) === null) tabindex.value = 0;
  });
  return tabindex;
}
