// The record that is open beside its list, as in the URL. Opening adds a history entry, so that Back closes it.
import { computed } from 'vue';
import { useRoute, useRouter } from 'vue-router';

/** @param within query parameters that belong to the open record and are removed with it */
export function useOpenRecord(within: readonly string[] = []) {
  const route = useRoute();
  const router = useRouter();

  function open(id: number | null): void {
    const ended = ['open', ...within];
    const rest = Object.fromEntries(Object.entries(route.query).filter(([name]) => !ended.includes(name)));
    void router.push({ query: id === null ? rest : { ...rest, open: String(id) } });
  }

  return { openId: computed(() => Number(route.query['open']) || null), open };
}
