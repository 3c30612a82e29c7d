// Period and product of the statistics, as in the URL.
import { computed } from 'vue';
import { useAddressFilters } from '../../address-filters.ts';
import { useNow } from '../../now.ts';
import { addDays, daysBetween, quarterStart, startOfUtcDay, toDay, utcDay } from '../../utc-days.ts';

export const PRESETS = ['7', '30', '90', '365', 'quarter', 'last_quarter'] as const;
export type Preset = (typeof PRESETS)[number];

const DEFAULT_PRESET: Preset = '30';

interface Period {
  first: string;
  last: string;
}

function periodOf(preset: Preset, today: string): Period {
  const quarter = quarterStart(today);
  if (preset === 'quarter') return { first: quarter, last: today };
  if (preset === 'last_quarter') {
    const last = addDays(quarter, -1);
    return { first: quarterStart(last), last };
  }
  return { first: addDays(today, 1 - Number(preset)), last: today };
}

/** The periods that the API accepts. */
const MAX_DAYS = 3660;

export function useStatisticsFilters() {
  const filters = useAddressFilters(['days', 'from', 'to', 'product', 'view']);
  const now = useNow();

  /** Null for a custom period. */
  const preset = computed<Preset | null>(() => {
    const { days, from, to } = filters.values.value;
    if (toDay(from) || toDay(to)) return null;
    return PRESETS.find((choice) => choice === days) ?? DEFAULT_PRESET;
  });
  const period = computed<Period>(() => {
    const today = utcDay(now.value);
    if (preset.value !== null) return periodOf(preset.value, today);
    const { from, to } = filters.values.value;
    const last = toDay(to) || today;
    return { first: toDay(from) || addDays(last, 1 - Number(DEFAULT_PRESET)), last };
  });
  /** As long, and ends the day before. */
  const previous = computed<Period>(() => {
    const { first, last } = period.value;
    return { first: addDays(first, -daysBetween(first, last)), last: addDays(first, -1) };
  });
  const problem = computed<'order' | 'tooLong' | null>(() => {
    const length = daysBetween(period.value.first, period.value.last);
    if (length < 1) return 'order';
    return length > MAX_DAYS ? 'tooLong' : null;
  });
  const product = computed(() => filters.values.value.product);
  /** Whole days, for the API. */
  const toQuery = ({ first, last }: Period) => ({
    from: startOfUtcDay(first),
    to: startOfUtcDay(addDays(last, 1)),
    ...(product.value ? { product: product.value } : {}),
  });

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
    previous,
    query: computed(() => toQuery(period.value)),
    previousQuery: computed(() => toQuery(previous.value)),
  };
}
