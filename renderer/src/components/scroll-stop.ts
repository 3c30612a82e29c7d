// Makes an element a tab stop while it has more than it shows: the arrow keys scroll it from there.
import type { Directive } from 'vue';

/** On a stop in which Up and Down scroll. */
export const SCROLLS_DOWN = 'data-scrolls-down';

const observers = new WeakMap<HTMLElement, ResizeObserver>();

function setStop(element: HTMLElement): void {
  // Out of the document it has no size. It may have had the focus, which is to come back.
  if (!element.isConnected) return;
  const { clientHeight, clientWidth, scrollHeight, scrollWidth } = element;
  const scrollsDown = scrollHeight > clientHeight;
  if (scrollWidth > clientWidth || scrollsDown) element.tabIndex = 0;
  else element.removeAttribute('tabindex');
  element.toggleAttribute(SCROLLS_DOWN, scrollsDown);
}

export const vScrollStop: Directive<HTMLElement> = {
  mounted(element) {
    const observer = new ResizeObserver(() => setStop(element));
    // What is in it as well: it grows without its frame.
    for (const box of [element, ...element.children]) observer.observe(box);
    observers.set(element, observer);
  },
  updated: setStop,
  unmounted: (element) => observers.get(element)?.disconnect(),
};
