// Activation requests and license files that were opened with the app or dropped on the page. The air-gap desk shows
// them.
import { onScopeDispose, readonly, type Ref, shallowRef, watch } from 'vue';
import { useRouter } from 'vue-router';
import type { OpenedFile } from '../../../../electron/bridge.ts';
import { isDialogOpen } from '../../components/open-dialogs.ts';
import { desktopApp } from '../../desktop-app.ts';
import { atSessionEnd } from '../../session-end.ts';
import { closePalette } from '../../shell/palette-state.ts';

type Kind = OpenedFile['kind'];

const VIEWS = { request: {}, license: { view: 'check' } } satisfies Record<Kind, object>;

/** Kept in memory only, until the matching view takes it: later, if the code of its screen could not be loaded. */
const waiting = shallowRef<{ kind: Kind; file: File } | null>(null);
atSessionEnd(() => (waiting.value = null));

export const isFileWaiting = (): boolean => waiting.value !== null;

function kindOf({ name }: File): Kind | null {
  if (/\.req$/iu.test(name)) return 'request';
  return /\.lic$/iu.test(name) ? 'license' : null;
}

/** @returns the most recently opened file of this kind, for the view that shows it */
export function useOpenedFile(kind: Kind): Readonly<Ref<File | null>> {
  const file = shallowRef<File | null>(null);
  watch(
    waiting,
    (opened) => {
      if (opened?.kind !== kind) return;
      file.value = opened.file;
      waiting.value = null;
    },
    { immediate: true },
  );
  return readonly(file);
}

/** @param isSignedIn before sign-in, the shell keeps opened files */
export function useOpenedFiles(isSignedIn: () => boolean): void {
  const router = useRouter();
  // The open dialog may show a one-time secret.
  const canShow = () => isSignedIn() && !isDialogOpen.value;

  function show(kind: Kind, file: File): void {
    closePalette();
    waiting.value = { kind, file };
    void router.push({ name: 'air-gap', query: VIEWS[kind] });
  }

  async function take(): Promise<void> {
    const opened = canShow() ? await desktopApp?.takeOpenedFile() : null;
    if (opened) show(opened.kind, new File([opened.text], opened.name));
  }

  /** A file dropped outside of a field would replace the page. */
  function onDrag(event: DragEvent): void {
    const { dataTransfer, defaultPrevented } = event;
    if (defaultPrevented || !dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    if (event.type !== 'drop' || !canShow()) return;
    for (const file of dataTransfer.files) {
      const kind = kindOf(file);
      if (kind) return show(kind, file);
    }
  }

  watch(canShow, () => void take(), { immediate: true });
  const stopListening = desktopApp?.onFileOpened(() => void take());
  addEventListener('dragover', onDrag);
  addEventListener('drop', onDrag);
  onScopeDispose(() => {
    stopListening?.();
    removeEventListener('dragover', onDrag);
    removeEventListener('drop', onDrag);
  });
}
