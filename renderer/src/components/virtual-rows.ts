// Which rows of a list are rendered, where all rows have one height: at once those in sight, then, a few per frame,
// some around them. Rendering all of these at once would delay the frame that scrolling waits for.
import { onScopeDispose, type Ref, shallowReadonly, shallowRef, watch } from 'vue';

/** Rows rendered above and below those in sight. */
const AHEAD = 12;
const PER_FRAME = 4;

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

/** @returns what to render next @param sight the rows in sight @param around these and those around them */
function nextRange(rendered: Range, sight: Range, around: Range): Range {
  const first = Math.min(sight.first, Math.max(rendered.first, around.first));
  const end = Math.max(sight.end, Math.min(rendered.end, around.end));
  const isApart = rendered.end < sight.first || rendered.first > sight.end;
  if (isApart) return sight;
  const added = Math.max(0, rendered.first - first) + Math.max(0, end - rendered.end);
  const below = Math.min(around.end - end, Math.max(0, PER_FRAME - added));
  const above = Math.min(first - around.first, Math.max(0, PER_FRAME - added - below));
  return { first: first - above, end: end + below };
}

export function useVirtualRows({ viewport, count, rowPx, width }: Needs) {
  const rendered = shallowRef<Range>({ first: 0, end: 0 });
  /** As of the last scroll event. Reading it while rows are rendered would make the browser lay them out at once. */
  let top = 0;
  let height = 0;
  let frame = 0;
  let idle = 0;

  function cancelUpdates(): void {
    cancelAnimationFrame(frame);
    cancelIdle(idle);
    [frame, idle] = [0, 0];
  }

  function update(): void {
    cancelUpdates();
    const within = (index: number) => Math.max(0, Math.min(index, count()));
    const sight = {
      first: within(Math.floor(top / rowPx()) - 1),
      end: within(Math.ceil((top + height) / rowPx())),
    };
    const around = { first: within(sight.first - AHEAD), end: within(sight.end + AHEAD) };
    const { first, end } = nextRange(rendered.value, sight, around);
    if (first !== rendered.value.first || end !== rendered.value.end) rendered.value = { first, end };
    if (height > 0 && (first !== around.first || end !== around.end)) updateLater();
  }

  function updateInFrame(): void {
    frame ||= requestAnimationFrame(update);
  }

  /** For rows out of sight. Before the list is scrolled, they can wait for what the user types. */
  function updateLater(): void {
    if (top > 0) updateInFrame();
    else idle ||= requestIdle(update);
  }

  function readTop(): void {
    top = viewport.value?.scrollTop ?? 0;
  }

  /** Once per frame, so that the browser lays rows out once per frame. */
  function onScroll(): void {
    readTop();
    updateInFrame();
  }

  const resizes = new ResizeObserver(([entry]) => {
    // Out of the document it has no size. Rows that left now would lose the focus that is to come back.
    if (viewport.value?.isConnected !== true) return;
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
  onScopeDispose(() => {
    cancelUpdates();
    resizes.disconnect();
  });

  return {
    /** Replaced when other rows are to be rendered. */
    rendered: shallowReadonly(rendered),
    /** Scrolls as little as it takes to show the row below the head. */
    scrollTo(index: number): void {
      const element = viewport.value;
      if (!element) return;
      const head = element.scrollHeight - count() * rowPx();
      const start = index * rowPx();
      const lowest = start + rowPx() + Math.max(0, head) - element.clientHeight;
      if (start < element.scrollTop) element.scrollTop = start;
      else if (lowest > element.scrollTop) element.scrollTop = lowest;
      readTop();
      update();
    },
  };
}
