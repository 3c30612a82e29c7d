// Period and product of the statistics, as in the URL.
import { computed } from 'vue';
import { useAddressFilters } from '../../address-filters.ts';
import { useNow } from '../../now.ts';
import { addDays, daysBetween, quarterStart, toDay, utcDay } from '../../utc-days.ts';
import { DEFAULT_DAYS, lastDays, type Period, periodBefore, toWholeDays } from './statistics-period.ts';

export const PRESETS = ['7', '30', '90', '365', 'quarter', 'last_quarter'] as const;
export type Preset = (typeof PRESETS)[number];

const DEFAULT_PRESET = `${DEFAULT_DAYS}` satisfies Preset;

function periodOf(preset: Preset, today: string): Period {
  const quarter = quarterStart(today);
  if (preset === 'quarter') return { first: quarter, last: today };
  if (preset === 'last_quarter') {
    const last = addDays(quarter, -1);
    return { first: quarterStart(last), last };
  }
  return lastDays(Number(preset), today);
}

/** The periods that the API accepts. */
const MAX_DAYS = 3660;
const FIRST_DAY = '1970-01-01';

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
    return { first: toDay(from) || lastDays(DEFAULT_DAYS, last).first, last };
  });
  const previous = computed(() => periodBefore(period.value));
  /** One call has both, unless the API does not accept them together. */
  const canFetchTogether = computed(
    () =>
      daysBetween(previous.value.first, period.value.last) <= MAX_DAYS && previous.value.first >= FIRST_DAY,
  );
  const problem = computed<'order' | 'tooLong' | null>(() => {
    const length = daysBetween(period.value.first, period.value.last);
    if (length < 1) return 'order';
    return length > MAX_DAYS ? 'tooLong' : null;
  });
  const product = computed(() => filters.values.value.product);
  /** Whole days, for the API. */
  const toQuery = (chosen: Period) => ({
    ...toWholeDays(chosen),
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
    canFetchTogether,
    query: computed(() =>
      toQuery(
        canFetchTogether.value ? { first: previous.value.first, last: period.value.last } : period.value,
      ),
    ),
    previousQuery: computed(() => toQuery(previous.value)),
  };
}
