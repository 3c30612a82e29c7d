// State of the command palette, with the commands that screens register.
import { onScopeDispose, readonly, ref, shallowReactive } from 'vue';

export interface Command {
  id: string;
  /** The label in the current language. */
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

/** Registers commands while the calling component is mounted. */
export function useCommands(offered: readonly Command[]): void {
  for (const command of offered) commands.set(command.id, command);
  onScopeDispose(() => {
    for (const { id } of offered) commands.delete(id);
  });
}
