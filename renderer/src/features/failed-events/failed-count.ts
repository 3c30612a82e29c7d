// The number of failed deliveries, kept up to date.
import { useQuery } from '@pinia/colada';
import { computed, type MaybeRefOrGetter, toValue } from 'vue';
import { adminClient } from '../../api/admin-client.ts';
import { formatCount } from '../../i18n/i18n.ts';

export interface FailedFilter {
  webhook_id?: number;
  /** ISO 8601 */
  since?: string;
}

export function useFailedCount(filter: MaybeRefOrGetter<FailedFilter> = {}) {
  const query = useQuery({
    key: () => ['deliveries', 'count-failed', JSON.stringify(toValue(filter))],
    query: () => adminClient.countRetriableDeliveries(toValue(filter)),
  });
  return {
    count: computed(() => query.data.value?.count ?? 0),
    /** `10,000+` if the server stopped counting. */
    text: computed(() => {
      const { count, exact } = query.data.value ?? { count: 0, exact: true };
      return exact ? formatCount(count) : `${formatCount(count)}+`;
    }),
  };
}
