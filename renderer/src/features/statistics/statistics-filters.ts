// Period and product of the statistics, as in the URL.
import { computed } from 'vue';
import { useAddressFilters } from '../../address-filters.ts';
import { useNow } from '../../now.ts';
import { addDays, daysBetween, startOfUtcDay, toDay, utcDay } from '../../utc-days.ts';

export const PRESETS = [7, 30, 90, 365] as const;
type Preset = (typeof PRESETS)[number];

const DEFAULT_PRESET: Preset = 30;
/** The periods that the API accepts. */
const MAX_DAYS = 3660;

export function useStatisticsFilters() {
  const filters = useAddressFilters(['days', 'from', 'to', 'product', 'view']);
  const now = useNow();

  /** Null for a custom period. */
  const preset = computed<Preset | null>(() => {
    const { days, from, to } = filters.values.value;
    if (toDay(from) || toDay(to)) return null;
    return PRESETS.find((choice) => String(choice) === days) ?? DEFAULT_PRESET;
  });
  const period = computed(() => {
    const { from, to } = filters.values.value;
    const last = toDay(to) || utcDay(now.value);
    return { first: toDay(from) || addDays(last, 1 - (preset.value ?? DEFAULT_PRESET)), last };
  });
  const problem = computed<'order' | 'tooLong' | null>(() => {
    const length = daysBetween(period.value.first, period.value.last);
    if (length < 1) return 'order';
    return length > MAX_DAYS ? 'tooLong' : null;
  });
  const product = computed(() => filters.values.value.product);

  return {
    set: filters.set,
    preset,
    period,
    problem,
    product,
    asTable: computed({
      get: () => filters.values.value.view === 'table',
      set: (asTable) => filters.set({ view: asTable ? 'table' : '' }),
    }),
    /** Whole days, for the API. */
    query: computed(() => ({
      from: startOfUtcDay(period.value.first),
      to: startOfUtcDay(addDays(period.value.last, 1)),
      ...(product.value ? { product: product.value } : {}),
    })),
  };
}
