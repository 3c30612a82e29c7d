// Filters and order of the license list, as in the URL.
import { computed } from 'vue';
import { useAddressFilters } from '../../address-filters.ts';
import type { GridSort } from '../../components/grid-column.ts';
import { toLicenseState } from './license-state.ts';

export const EXPIRY_WINDOWS = [7, 30, 90, 365] as const;
const SORTS = ['created', 'expires', 'holder'] as const;

type SortName = (typeof SORTS)[number];
type Order = GridSort['order'];

const firstOrder = (sort: SortName): Order => (sort === 'created' ? 'desc' : 'asc');

const FILTERS = ['search', 'state', 'plan', 'product', 'expires_within_days'] as const;
type FilterValues = Record<(typeof FILTERS)[number], string>;

/** For the API, which reports unknown names in a hand-edited URL. */
function toFilter({ search, state, plan, product, expires_within_days: within }: FilterValues) {
  const known = toLicenseState(state);
  return {
    ...(search ? { search } : {}),
    ...(known ? { state: known } : {}),
    ...(plan ? { plan } : {}),
    ...(product ? { product } : {}),
    ...(within ? { expires_within_days: within } : {}),
  };
}

export type LicenseFilter = ReturnType<typeof toFilter>;
export type LicenseQuery = LicenseFilter & { sort: SortName; order: Order };

export function useLicenseFilters() {
  const filters = useAddressFilters(FILTERS);
  const sorting = useAddressFilters(['sort', 'order']);

  const filter = computed(() => toFilter(filters.values.value));
  const sort = computed(() => {
    const { sort: given, order: asked } = sorting.values.value;
    const by = SORTS.find((name) => name === given) ?? 'created';
    const order = asked === 'asc' || asked === 'desc' ? asked : firstOrder(by);
    return { by, order, isInitial: by === 'created' && order === firstOrder(by) };
  });

  /** The query that the list has after a change of filters. */
  const queryWith = (changes: Partial<FilterValues>): LicenseQuery => ({
    ...toFilter({ ...filters.values.value, ...changes }),
    sort: sort.value.by,
    order: sort.value.order,
  });

  return {
    ...filters,
    /** The filter for listing, counting and exporting. */
    filter,
    /** The filter with the sort order. */
    query: computed(() => queryWith({})),
    queryWith,
    sort,
    sortBy: ({ by, order }: GridSort) => sorting.set({ sort: by, order }),
  };
}
