// What an action has led to, told for a few seconds; with a way back where there is one.
import { readonly, ref } from 'vue';
import { atSessionEnd } from '../session-end.ts';

export interface Toast {
  id: number;
  text: string;
  /** A message of the server that stays English, below the text. */
  original?: string | undefined;
  tone: 'ok' | 'bad';
  /** Takes the action back. @throws UndoRefusal, CallFailure */
  undo?: () => Promise<void> | void;
}

/** Undo is offered for longer than a plain result is shown. */
const SHOWN_MS = 6000;
const SHOWN_WITH_UNDO_MS = 10_000;

const shown = ref<Toast[]>([]);
const timers = new Map<number, ReturnType<typeof setTimeout>>();
let lastId = 0;

export const toasts = readonly(shown);

export function dismissToast(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
  shown.value = shown.value.filter((toast) => toast.id !== id);
}

// Another administrator would take back what this one did.
atSessionEnd(() => {
  for (const { id } of shown.value) dismissToast(id);
});

/** Keeps a toast as long as the pointer or the focus is on it. */
export function holdToast(id: number): void {
  clearTimeout(timers.get(id));
}

export function releaseToast(id: number): void {
  const toast = shown.value.find((candidate) => candidate.id === id);
  if (!toast) return;
  clearTimeout(timers.get(id));
  timers.set(
    id,
    setTimeout(() => dismissToast(id), toast.undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS),
  );
}

export function showToast(
  text: string,
  { tone = 'ok', original, undo }: Partial<Pick<Toast, 'tone' | 'original' | 'undo'>> = {},
): void {
  const id = (lastId += 1);
  shown.value = [...shown.value.slice(-2), { id, text, original, tone, ...(undo ? { undo } : {}) }];
  releaseToast(id);
}
