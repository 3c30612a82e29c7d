// Media queries for decisions that style sheets cannot make.
import { computed, onScopeDispose, readonly, ref, type Ref } from 'vue';
import { isPrinting } from './printing.ts';

/** @param query for example `(width >= 1200px)` */
export function useMediaQuery(query: string): Readonly<Ref<boolean>> {
  const list = matchMedia(query);
  const matches = ref(list.matches);
  const update = () => {
    matches.value = list.matches;
  };
  list.addEventListener('change', update);
  onScopeDispose(() => list.removeEventListener('change', update));
  return readonly(matches);
}

/** Whether the page has at least this width. Paper is narrow, even if the window is wide. */
export function useWidePage(px: number): Readonly<Ref<boolean>> {
  const isWide = useMediaQuery(`(width >= ${px}px)`);
  return computed(() => isWide.value && !isPrinting.value);
}

/** Whether the page is narrow, as on a phone, zoomed in or on paper: style sheets ask the same. */
export function useNarrowPage(): Readonly<Ref<boolean>> {
  const isWide = useWidePage(900);
  return computed(() => !isWide.value);
}
