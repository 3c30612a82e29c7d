// The width of the window, for decisions that style sheets cannot make.
import { onScopeDispose, readonly, ref, type Ref } from 'vue';

/** In pixels. */
export function useWindowWidth(): Readonly<Ref<number>> {
  const width = ref(innerWidth);
  const update = () => {
    width.value = innerWidth;
  };
  addEventListener('resize', update);
  onScopeDispose(() => removeEventListener('resize', update));
  return readonly(width);
}
