// A dialog asks before it closes over something that cannot be shown again.
import { inject, type InjectionKey, onScopeDispose, type Ref, shallowRef } from 'vue';

/** Whether something would be lost. */
type Guard = () => boolean;

export const CLOSE_GUARD: InjectionKey<Ref<Guard | null>> = Symbol('close guard');

/** For the dialog. */
export function createCloseGuard() {
  const guard = shallowRef<Guard | null>(null);
  return { guard, wouldLose: () => guard.value?.() ?? false };
}

/** For what is shown in the dialog. Outside of dialogs it does nothing. */
export function useCloseGuard(wouldLose: Guard): void {
  const guard = inject(CLOSE_GUARD, null);
  if (!guard) return;
  guard.value = wouldLose;
  onScopeDispose(() => {
    guard.value = null;
  });
}
