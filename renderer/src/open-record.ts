// The record that is open beside its list, as the address has it; a step in the history, so that the way back closes it.
import { computed } from 'vue';
import { useRoute, useRouter } from 'vue-router';

export function useOpenRecord() {
  const route = useRoute();
  const router = useRouter();

  function open(id: number | null): void {
    const { open: _open, ...rest } = route.query;
    void router.push({ query: id === null ? rest : { ...rest, open: String(id) } });
  }

  return { openId: computed(() => Number(route.query['open']) || null), open };
}
