// A dialog does not close over what cannot be shown again: it waits for a running call, and asks before a loss.
import { inject, type InjectionKey, onScopeDispose, shallowReactive } from 'vue';

/** What keeps the dialog open: a call whose reply it shows, or a loss, with the text that warns of it. */
type Obstacle = 'call' | { loss: string } | null;
type Guard = () => Obstacle;

export const CLOSE_GUARDS: InjectionKey<Set<Guard>> = Symbol('close guards');

/** For the dialog. */
export function createCloseGuards() {
  const guards = shallowReactive(new Set<Guard>());
  return {
    guards,
    obstacle(): Obstacle {
      const found = [...guards].map((guard) => guard());
      return found.find((obstacle) => obstacle === 'call') ?? found.find((obstacle) => obstacle) ?? null;
    },
  };
}

/** For what is shown in the dialog. Outside of dialogs it does nothing. */
export function useCloseGuard(guard: Guard): void {
  const guards = inject(CLOSE_GUARDS, null);
  if (!guards) return;
  guards.add(guard);
  onScopeDispose(() => guards.delete(guard));
}
