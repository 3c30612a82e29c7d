// How wide the inspector is: dragged, or stepped by key, and kept for the next visit.
import { ref } from 'vue';

const MIN = 360;
const MAX = 720;
const DEFAULT = 440;
const STORED_AS = 'license-desk-inspector-width';

const within = (width: number) => Math.round(Math.max(MIN, Math.min(MAX, width)));

const stored = Number(localStorage.getItem(STORED_AS));
const width = ref(stored ? within(stored) : DEFAULT);
const isDragging = ref(false);

function set(wanted: number): void {
  width.value = within(wanted);
  localStorage.setItem(STORED_AS, String(width.value));
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

/** One width for all inspectors. */
export function useInspectorWidth() {
  return { width, isDragging, startDrag, stepBy: (px: number) => set(width.value + px), MIN, MAX };
}
