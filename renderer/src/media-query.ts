// Media queries for decisions that style sheets cannot make.
import { onScopeDispose, readonly, ref, type Ref } from 'vue';

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

/** Whether the page is narrow, as on a phone or zoomed in: style sheets ask the same. */
export const useNarrowPage = (): Readonly<Ref<boolean>> => useMediaQuery('(width < 900px)');
