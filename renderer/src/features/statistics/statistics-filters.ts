// Of which days and which product the statistics are, as the address has it.
import { computed } from 'vue';
import { useAddressFilters } from '../../address-filters.ts';
import { useNow } from '../../now.ts';
import { addDays, daysBetween, startOfUtcDay, toDay, utcDay } from '../../utc-days.ts';

export const PRESETS = [7, 30, 90, 365] as const;
type Preset = (typeof PRESETS)[number];

const DEFAULT_PRESET: Preset = 30;
/** What the service takes. */
const MOST_DAYS = 3660;

export function useStatisticsFilters() {
  const filters = useAddressFilters(['days', 'from', 'to', 'product', 'view']);
  const now = useNow();

  /** Null where the days were chosen one by one. */
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
    return length > MOST_DAYS ? 'tooLong' : null;
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
    /** For the service; whole days. */
    query: computed(() => ({
      from: startOfUtcDay(period.value.first),
      to: startOfUtcDay(addDays(period.value.last, 1)),
      ...(product.value ? { product: product.value } : {}),
    })),
  };
}
