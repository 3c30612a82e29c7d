// The record that is open beside its list, as in the URL. Opening adds a history entry, so that Back closes it.
import { computed, watch } from 'vue';
import { useRoute, useRouter } from 'vue-router';

/** What had the focus when the record was opened. */
let opener: Element | null = null;

/** Whether the user went on to a field since then: the code of a record may take a while to load. */
export function isInLaterField(): boolean {
  const { activeElement: focused } = document;
  return focused !== null && focused !== opener && focused.matches('input, select, textarea');
}

/** @param within query parameters that belong to the open record and are removed with it */
export function useOpenRecord(within: readonly string[] = []) {
  const route = useRoute();
  const router = useRouter();
  const openId = computed(() => Number(route.query['open']) || null);
  watch(openId, () => (opener = document.activeElement), { immediate: true, flush: 'sync' });

  function open(id: number | null): void {
    const ended = ['open', ...within];
    const rest = Object.fromEntries(Object.entries(route.query).filter(([name]) => !ended.includes(name)));
    void router.push({ query: id === null ? rest : { ...rest, open: String(id) } });
  }

  return { openId, open };
}
