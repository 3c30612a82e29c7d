// Whether the command palette is open, and the commands that the screens have put there.
import { onScopeDispose, readonly, ref, shallowReactive } from 'vue';

export interface Command {
  id: string;
  /** What it does, in the page's language. */
  label: () => string;
  run: () => void;
}

export const isMac = /Mac|iPhone|iPad/u.test(navigator.platform);

const isOpen = ref(false);
const commands = shallowReactive(new Map<string, Command>());

export const paletteIsOpen = readonly(isOpen);
export const paletteCommands: ReadonlyMap<string, Command> = commands;

export function openPalette(): void {
  isOpen.value = true;
}

export function closePalette(): void {
  isOpen.value = false;
}

/** Offered as long as whoever calls this is on screen. */
export function useCommands(offered: readonly Command[]): void {
  for (const command of offered) commands.set(command.id, command);
  onScopeDispose(() => {
    for (const { id } of offered) commands.delete(id);
  });
}
