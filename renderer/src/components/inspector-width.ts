// How wide the inspector is: dragged, or stepped by key, and kept for the next visit.
import { computed, ref } from 'vue';
import { useWindowWidth } from '../window-width.ts';

const MIN = 440;
const MAX = 560;
const STORED_AS = 'license-desk-inspector-width';
/** The width of the navigation and of a list's most important columns. */
const REST_PX = 690;

/** @returns the width in pixels that a window of `windowPx` has room for */
export function inspectorWidth(wanted: number, windowPx: number): number {
  return Math.round(Math.max(MIN, Math.min(MAX, windowPx - REST_PX, wanted)));
}

const wanted = ref(Number(localStorage.getItem(STORED_AS)) || MIN);
const isDragging = ref(false);

/** One width for all inspectors. */
export function useInspectorWidth() {
  const windowPx = useWindowWidth();
  const width = computed(() => inspectorWidth(wanted.value, windowPx.value));

  function set(to: number): void {
    wanted.value = inspectorWidth(to, windowPx.value);
    localStorage.setItem(STORED_AS, String(wanted.value));
  }

  function startDrag(event: PointerEvent): void {
    const grip = event.currentTarget as HTMLElement;
    const startX = event.clientX;
    const startWidth = width.value;
    grip.setPointerCapture(event.pointerId);
    isDragging.value = true;
    const onMove = (move: PointerEvent) => set(startWidth + startX - move.clientX);
    const onEnd = () => {
      isDragging.value = false;
      grip.removeEventListener('pointermove', onMove);
    };
    grip.addEventListener('pointermove', onMove);
    grip.addEventListener('lostpointercapture', onEnd, { once: true });
  }

  return {
    width,
    isDragging,
    startDrag,
    stepBy: (px: number) => set(width.value + px),
    min: MIN,
    max: computed(() => inspectorWidth(MAX, windowPx.value)),
  };
}
