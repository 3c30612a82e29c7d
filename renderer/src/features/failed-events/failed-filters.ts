// Filters of failed events, as in the URL.
import { useQuery } from '@pinia/colada';
import { computed } from 'vue';
import { useAddressFilters } from '../../address-filters.ts';
import { adminClient } from '../../api/admin-client.ts';
import { startOfUtcDay, toDay } from '../../utc-days.ts';
import { hostOf } from '../webhooks/webhook-state.ts';
import type { FailedFilter } from './failed-count.ts';

const MAX_WEBHOOKS = 500;

export function useFailedFilters() {
  const filters = useAddressFilters(['since', 'webhook']);
  /** For the API, which rejects unknown parameters. */
  const query = computed<FailedFilter>(() => {
    const since = toDay(filters.values.value.since);
    const webhookId = Number(filters.values.value.webhook);
    return {
      ...(since ? { since: startOfUtcDay(since) } : {}),
      ...(Number.isSafeInteger(webhookId) && webhookId > 0 ? { webhook_id: webhookId } : {}),
    };
  });
  return { ...filters, query };
}

/** The webhooks to choose from, with what tells them apart. */
export function useWebhookChoices() {
  const query = useQuery({
    key: ['webhooks', 'choices'],
    query: () => adminClient.listWebhooks({ limit: MAX_WEBHOOKS }),
  });
  return computed(() =>
    (query.data.value?.webhooks ?? []).map(({ id, url }) => ({ id, name: `${hostOf(url)} · ${id}` })),
  );
}
