// Whether the page is being printed, for what style sheets cannot do.
import { computed, ref } from 'vue';

const print = matchMedia('print');
const isPrint = ref(print.matches);
print.addEventListener('change', ({ matches }) => {
  if (matches) isPrint.value = true;
  // The page learns of the width of its window after this: until then, it would be laid out as narrow as paper.
  else requestAnimationFrame(() => (isPrint.value = print.matches));
});
// Before the browser lays out the page for paper. Firefox then prints a copy, whose style sheets alone know the medium.
const isAsked = ref(false);
addEventListener('beforeprint', () => (isAsked.value = true));
addEventListener('afterprint', () => (isAsked.value = false));

/**
 * What follows from it is rendered in time for the print, unless a script of the page asked for it: rendering waits for the
 * script's end.
 */
export const isPrinting = computed(() => isPrint.value || isAsked.value);
