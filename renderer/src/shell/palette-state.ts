// State of the command palette, with the commands that screens and open records register.
import { type Component, computed, onScopeDispose, readonly, ref, shallowReactive } from 'vue';

export interface Command {
  id: string;
  label: string;
  icon?: Component;
  /** The open record that the command is about. */
  about?: string;
  run: () => void;
}

export const isMac = /Mac|iPhone|iPad/u.test(navigator.platform);

const isOpen = ref(false);
const sources = shallowReactive(new Set<() => readonly Command[]>());

export const paletteIsOpen = readonly(isOpen);
export const paletteCommands = computed(() => [...sources].flatMap((commands) => commands()));

export function openPalette(): void {
  isOpen.value = true;
}

export function closePalette(): void {
  isOpen.value = false;
}

/** Registers commands while the calling component is mounted. They may change with its state. */
export function useCommands(commands: () => readonly Command[]): void {
  sources.add(commands);
  onScopeDispose(() => sources.delete(commands));
}
