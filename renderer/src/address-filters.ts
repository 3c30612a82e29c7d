// Keeps a screen's filters in the URL, so that they survive a reload, a bookmark and the Back button.
import { computed, type ComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';

export interface AddressFilters<Name extends string> {
  values: ComputedRef<Record<Name, string>>;
  isFiltered: ComputedRef<boolean>;
  set: (changes: Partial<Record<Name, string>>) => void;
  clear: () => void;
}

/**
 * @param names the screen's query parameters; other parameters are not changed
 * @returns the values, empty if not set, and a function that changes some of them without a history entry
 */
export function useAddressFilters<const Name extends string>(names: readonly Name[]): AddressFilters<Name> {
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
