// Keeps the focus in a panel whose content changes.
import { onMounted, onUnmounted, type Ref } from 'vue';

/** Without it, the focus falls to the page when the focused control leaves, such as the button of a released device. */
export function useKeptFocus(panel: Readonly<Ref<HTMLElement | null>>): void {
  let last: Element | null = null;
  const observer = new MutationObserver(() => {
    if (last?.isConnected === false && document.activeElement === document.body) panel.value?.focus();
  });
  const remember = ({ target }: FocusEvent) => (last = target as Element);
  onMounted(() => {
    panel.value?.addEventListener('focusin', remember);
    if (panel.value) observer.observe(panel.value, { childList: true, subtree: true });
  });
  onUnmounted(() => observer.disconnect());
}
