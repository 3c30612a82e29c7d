// Filters of failed events, as in the URL.
import { computed } from 'vue';
import { useAddressFilters } from '../../address-filters.ts';
import { startOfDay } from '../../local-day.ts';
import type { FailedFilter } from './failed-count.ts';

export function useFailedFilters() {
  const filters = useAddressFilters(['since', 'webhook']);
  /** For the API, which rejects unknown parameters. */
  const query = computed<FailedFilter>(() => {
    const since = startOfDay(filters.values.value.since);
    const webhookId = Number(filters.values.value.webhook);
    return {
      ...(since ? { since } : {}),
      ...(Number.isSafeInteger(webhookId) && webhookId > 0 ? { webhook_id: webhookId } : {}),
    };
  });
  return { ...filters, query };
}
