// Keeps the focus where it was when its control leaves the page, or cannot be used for a moment. The browser drops it:
// the keyboard would start over at the top of the page.
import { onMounted, onUnmounted } from 'vue';

/** Where an element was that has left. */
interface Place {
  parent: Element;
  neighbors: readonly (Element | null)[];
}
const places = new WeakMap<Node, Place>();
/** Rows of a list or short table, or their columns. */
const ROWS = 'li, tr, th';
/** Rows of a `DataGrid`: one that is scrolled away leaves its focus to no other. */
const GRID_ROWS = '[role="row"]';

let last: Element | null = null;
let isChecking = false;

const elementAfter = (node: Node | null) =>
  node instanceof Element ? node : ((node as CharacterData | null)?.nextElementSibling ?? null);
const elementBefore = (node: Node | null) =>
  node instanceof Element ? node : ((node as CharacterData | null)?.previousElementSibling ?? null);

function notePlaces(records: readonly MutationRecord[]): void {
  for (const { target, removedNodes, previousSibling, nextSibling } of records)
    for (const node of removedNodes)
      if (node instanceof Element && target instanceof Element)
        places.set(node, {
          parent: target,
          neighbors: [elementAfter(nextSibling), elementBefore(previousSibling)],
        });
}

/** The row that took the place of the element, or what it was in: a panel, the open record, the dialog, the screen. */
function nearest(element: Element): Element | null {
  if (element.isConnected) {
    const region = element.closest('[tabindex], [aria-labelledby]') ?? document.querySelector('main');
    const label = region?.hasAttribute('tabindex') ? null : region?.getAttribute('aria-labelledby');
    return label ? document.getElementById(label) : region;
  }
  let top = element;
  while (top.parentElement) top = top.parentElement;
  const place = places.get(top);
  if (!place || top.matches(GRID_ROWS)) return null;
  const row = top.matches(ROWS)
    ? place.neighbors.find((neighbor) => neighbor?.isConnected && neighbor.nodeName === top.nodeName)
    : null;
  return row ?? nearest(place.parent);
}

/** What the user sees stays in view. @returns whether it has the focus */
function focus(element: Element | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  element.focus({ preventScroll: true });
  return document.activeElement === element;
}

/** For what is read only. */
function focusText(element: Element | null): void {
  if (focus(element) || !(element instanceof HTMLElement) || element.hasAttribute('tabindex')) return;
  element.tabIndex = -1;
  focus(element);
}

function checkSoon(): void {
  if (isChecking) return;
  isChecking = true;
  // After code that has a better place, such as the list whose record was closed.
  setTimeout(() => {
    isChecking = false;
    if (!last || document.activeElement !== document.body || last.matches(':disabled')) return;
    if (!focus(last)) focusText(nearest(last));
  });
}

const observer = new MutationObserver((records) => {
  notePlaces(records);
  if (last && document.activeElement === document.body) checkSoon();
});

/** Gives the focus to this element, as soon as it can be used. If it has left the page, to what is nearest to it. */
export function returnFocus(to: Element): void {
  last = to;
  if (!focus(to)) checkSoon();
}

const remember = ({ target }: FocusEvent) => (last = target as Element);
/** The user has left it, such as with a click beside it. */
const forget = ({ target }: FocusEvent) =>
  queueMicrotask(() => {
    const isLeft = target === last && last?.isConnected && !last.matches(':disabled');
    if (isLeft && document.activeElement === document.body) last = null;
  });

/** For the app. */
export function useKeptFocus(): void {
  onMounted(() => {
    observer.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ['disabled'],
    });
    document.addEventListener('focusin', remember);
    document.addEventListener('focusout', forget);
  });
  onUnmounted(() => {
    observer.disconnect();
    document.removeEventListener('focusin', remember);
    document.removeEventListener('focusout', forget);
  });
}
