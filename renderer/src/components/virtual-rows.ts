// Which rows of a list are rendered, where all rows have one height: at once those in sight, then, a few per frame,
// some around them. Rendering all of these at once would delay the frame that scrolling waits for.
import { onScopeDispose, type Ref, shallowReadonly, shallowRef, watch } from 'vue';
import { isPrinting } from '../printing.ts';

/** Rows rendered above and below those in sight. */
const AHEAD = 12;
const PER_FRAME = 4;
/** Without a scroll event for this long, the user has stopped scrolling. */
const REST_MS = 150;

/** Safari has no idle callbacks. */
const [requestIdle, cancelIdle] =
  'requestIdleCallback' in globalThis
    ? [requestIdleCallback, cancelIdleCallback]
    : [requestAnimationFrame, cancelAnimationFrame];

interface Range {
  first: number;
  /** After the last one. */
  end: number;
}

interface Needs {
  viewport: Readonly<Ref<HTMLElement | null>>;
  count: () => number;
  rowPx: () => number;
  /** Receives the width of the viewport. */
  width: Ref<number>;
}

/**
 * @param rendered so far @param sight the rows in sight @param around these and those around them
 * @param most rows beyond `around` stay as long as there are not more: their elements are needed for others
 * @returns what to render next
 */
function nextRange(rendered: Range, sight: Range, around: Range, most: number): Range {
  const isApart = rendered.end < sight.first || rendered.first > sight.end;
  if (isApart) return sight;
  const first = Math.min(sight.first, rendered.first);
  const end = Math.max(sight.end, rendered.end);
  const added = rendered.first - first + (end - rendered.end);
  const below = Math.max(0, Math.min(around.end - end, PER_FRAME - added));
  const above = Math.max(0, Math.min(first - around.first, PER_FRAME - added - below));
  const extra = Math.max(0, end + below - (first - above) - most);
  const extraAbove = Math.min(extra, Math.max(0, around.first - first));
  return { first: first - above + extraAbove, end: end + below - (extra - extraAbove) };
}

export function useVirtualRows({ viewport, count, rowPx, width }: Needs) {
  const rendered = shallowRef<Range>({ first: 0, end: 0 });
  /** As of the last scroll event. Reading it while rows are rendered would make the browser lay them out at once. */
  let top = 0;
  let height = 0;
  let frame = 0;
  let idle = 0;
  /** After the list was replaced: rows from here on, which are not in sight, may still show the one before. */
  const lateFrom = shallowRef(Infinity);
  let catchingUp = 0;
  const isScrolling = shallowRef(false);
  let rest: ReturnType<typeof setTimeout> | undefined;
  let isPressed = false;

  function restLater(): void {
    clearTimeout(rest);
    rest = undefined;
    if (isPressed) return;
    rest = setTimeout(() => {
      rest = undefined;
      requestIdle(() => {
        if (rest === undefined) isScrolling.value = isPressed;
      });
    }, REST_MS);
  }

  function cancelUpdates(): void {
    cancelAnimationFrame(frame);
    cancelIdle(idle);
    [frame, idle] = [0, 0];
  }

  /** @param row the first one that may be late */
  function setLateFrom(row: number): void {
    cancelIdle(catchingUp);
    const isLate = row < rendered.value.end;
    lateFrom.value = isLate ? row : Infinity;
    catchingUp = isLate ? requestIdle(() => setLateFrom(row + PER_FRAME)) : 0;
  }

  function update(): void {
    cancelUpdates();
    const within = (index: number) => Math.max(0, Math.min(index, count()));
    const sight = {
      first: within(Math.floor(top / rowPx()) - 1),
      end: within(Math.ceil((top + height) / rowPx())),
    };
    const around = { first: within(sight.first - AHEAD), end: within(sight.end + AHEAD) };
    const before = { first: within(rendered.value.first), end: within(rendered.value.end) };
    const most = Math.ceil(height / rowPx()) + 2 + 2 * AHEAD;
    const { first, end } = nextRange(before, sight, around, most);
    if (first !== rendered.value.first || end !== rendered.value.end) rendered.value = { first, end };
    if (sight.end > lateFrom.value) setLateFrom(Infinity);
    if (height > 0 && (first > around.first || end < around.end)) updateLater();
  }

  function updateInFrame(): void {
    frame ||= requestAnimationFrame(update);
  }

  /** For rows out of sight. Before the list is scrolled, they can wait for what the user types. */
  function updateLater(): void {
    if (top > 0) updateInFrame();
    else idle ||= requestIdle(update);
  }

  /** @returns the height below the head, in pixels */
  function roomIn({ scrollHeight, clientHeight }: HTMLElement): number {
    return clientHeight - Math.max(0, scrollHeight - count() * rowPx());
  }

  function readTop(): void {
    top = viewport.value?.scrollTop ?? 0;
  }

  /** Once per frame, so that the browser lays rows out once per frame. */
  function onScroll(): void {
    if (isPrinting.value) return;
    const before = top;
    readTop();
    // It was scrolled from here, and rows are rendered for it.
    if (top === before) return;
    updateInFrame();
    isScrolling.value = true;
    restLater();
  }

  const stop = new AbortController();
  const { signal } = stop;
  function setPressed(pressed: boolean): void {
    isPressed = pressed;
    if (isScrolling.value) restLater();
  }
  for (const type of ['pointerup', 'pointercancel'] as const)
    addEventListener(type, () => setPressed(false), { capture: true, signal });
  addEventListener('pointerdown', () => setPressed(true), { capture: true, signal });

  const resizes = new ResizeObserver(([entry]) => {
    // Out of the document it has no size. Rows that left now would lose the focus that is to come back.
    // On paper it has the height of its rows: it would ask for more and more of them.
    if (viewport.value?.isConnected !== true || isPrinting.value) return;
    height = entry?.contentRect.height ?? height;
    width.value = entry?.contentRect.width ?? width.value;
    update();
  });
  watch(
    viewport,
    (element, before) => {
      before?.removeEventListener('scroll', onScroll);
      resizes.disconnect();
      if (!element) return;
      height = element.clientHeight;
      width.value = element.clientWidth;
      readTop();
      element.addEventListener('scroll', onScroll, { passive: true });
      resizes.observe(element);
      update();
    },
    { flush: 'post' },
  );
  watch(count, update);
  // The row at the top stays there when rows become higher or lower.
  watch(
    rowPx,
    (now, before) => {
      if (viewport.value) viewport.value.scrollTop = (top / before) * now;
      readTop();
      update();
    },
    { flush: 'post' },
  );
  // On paper there is nothing to scroll. Scrolling is not followed there, so `top` stays as it was before.
  watch(
    isPrinting,
    (now) => {
      if (!now && viewport.value) viewport.value.scrollTop = top;
    },
    { flush: 'post' },
  );
  onScopeDispose(() => {
    cancelUpdates();
    cancelIdle(catchingUp);
    clearTimeout(rest);
    stop.abort();
    resizes.disconnect();
  });

  return {
    /** Replaced when other rows are to be rendered. */
    rendered: shallowReadonly(rendered),
    /** After the list was replaced, rows from here on may show the one before, until the browser is idle. */
    lateFrom: shallowReadonly(lateFrom),
    /** Also for a moment after the last scroll event. */
    isScrolling: shallowReadonly(isScrolling),
    /** Between pressing and releasing a button. No click would follow on a row that is moved in the document then. */
    isPressed: () => isPressed,
    /** For other rows. */
    scrollToTop(): void {
      // The browser would lay out rows that are about to be replaced.
      if (top > 0 && viewport.value) viewport.value.scrollTop = 0;
      top = 0;
      isScrolling.value = false;
      update();
      setLateFrom(Math.ceil(height / rowPx()));
    },
    /** @returns the row, or the one closest to it that is in view */
    nearestInView(index: number): number {
      const element = viewport.value;
      if (!element) return index;
      const first = Math.ceil(element.scrollTop / rowPx());
      const end = Math.floor((element.scrollTop + roomIn(element)) / rowPx());
      return Math.max(first, Math.min(index, end - 1));
    },
    /** Scrolls as little as it takes to show the row below the head. */
    scrollTo(index: number): void {
      const element = viewport.value;
      if (!element) return;
      const start = index * rowPx();
      const lowest = start + rowPx() - roomIn(element);
      if (start < element.scrollTop) element.scrollTop = start;
      else if (lowest > element.scrollTop) element.scrollTop = lowest;
      readTop();
      update();
    },
  };
}
