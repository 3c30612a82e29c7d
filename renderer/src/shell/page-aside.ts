// Takes the page out of the document while its session has ended by itself, so that it cannot be read in the meantime:
// neither on the screen, nor with a screen reader, nor in the inspector. Drafts stay, because the page still exists.
import { type Ref, watch } from 'vue';

/** What an element loses when it leaves the document. */
interface Lost {
  scrolled: { element: Element; left: number; top: number }[];
  /** Modal dialogs, the topmost last. */
  dialogs: HTMLDialogElement[];
  focused: Element | null;
}

function note(page: Element): Lost {
  const focused = document.activeElement;
  return {
    scrolled: [...page.querySelectorAll('*')]
      .map((element) => ({ element, left: element.scrollLeft, top: element.scrollTop }))
      .filter(({ left, top }) => left !== 0 || top !== 0),
    // The topmost one holds the focus.
    dialogs: [...page.querySelectorAll<HTMLDialogElement>('dialog:modal')].toSorted(
      (a, b) => Number(a.contains(focused)) - Number(b.contains(focused)),
    ),
    focused,
  };
}

/** Dialogs that were mounted meanwhile, which could not be shown. @param page in the document again */
const unshown = (page: Element) => page.querySelectorAll<HTMLDialogElement>('dialog[data-modal]:not([open])');

function restore(page: Element, { scrolled, dialogs, focused }: Lost): void {
  // Some may have been removed meanwhile, such as a confirmation whose result has arrived.
  for (const dialog of dialogs.filter(({ isConnected }) => isConnected)) {
    // Not `close()`, which would report that it was closed.
    dialog.open = false;
    dialog.showModal();
  }
  const added = unshown(page);
  for (const dialog of added) dialog.showModal();
  for (const { element, left, top } of scrolled) element.scrollTo({ left, top, behavior: 'instant' });
  if (focused instanceof HTMLElement && focused.isConnected && added.length === 0)
    focused.focus({ preventScroll: true });
}

/** @returns the element outside of the document that holds the page meanwhile */
export function usePageAside(page: Readonly<Ref<Element | null>>, isAside: () => boolean): Element {
  let lost: Lost | null = null;
  watch(isAside, (leaves) => {
    if (leaves && page.value) lost = note(page.value);
  });
  watch(
    isAside,
    (left) => {
      if (left || !lost) return;
      if (page.value) restore(page.value, lost);
      lost = null;
    },
    { flush: 'post' },
  );
  return document.createElement('div');
}
