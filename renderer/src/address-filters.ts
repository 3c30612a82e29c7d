// The filters of a screen live in the address, and so survive a reload, a bookmark, and the way back.
import { computed, type ComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';

/**
 * @param names the parameters that the screen has; others are left alone
 * @returns the values, empty where there is none, and a way to change some of them without a step in the history
 */
export function useAddressFilters<const Name extends string>(names: readonly Name[]) {
  const route = useRoute();
  const router = useRouter();
  const values = computed(() => {
    const entries = names.map((name) => {
      const given = route.query[name];
      return [name, typeof given === 'string' ? given : ''];
    });
    return Object.fromEntries(entries) as Record<Name, string>;
  }) as ComputedRef<Record<Name, string>>;

  function set(changes: Partial<Record<Name, string>>): void {
    const query = { ...route.query, ...changes };
    const given = Object.entries(query).filter(([, value]) => value !== '' && value !== undefined);
    void router.replace({ query: Object.fromEntries(given) });
  }

  return {
    values,
    isFiltered: computed(() => names.some((name) => values.value[name] !== '')),
    set,
    clear: () => set(Object.fromEntries(names.map((name) => [name, ''])) as Record<Name, string>),
  };
}
