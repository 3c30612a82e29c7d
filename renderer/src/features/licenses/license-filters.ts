// What the list of licenses is narrowed to and ordered by, as the address has it.
import { computed } from 'vue';
import { useAddressFilters } from '../../address-filters.ts';
import { toLicenseState } from './license-state.ts';

export function useLicenseFilters() {
  const filters = useAddressFilters(['search', 'state']);
  /** For the service, which refuses what it does not know. */
  const query = computed(() => {
    const { search, state } = filters.values.value;
    const known = toLicenseState(state);
    return { ...(search ? { search } : {}), ...(known ? { state: known } : {}) };
  });
  return { ...filters, query };
}
