// The deliveries to one webhook, newest first, all of them or those in one state.
import { computed, ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { adminClient } from '../../api/admin-client.ts';
import { useKeysetList } from '../../api/keyset-list.ts';

const FILTERS = ['all', 'failed', 'retrying', 'pending'] as const;

export function useWebhookDeliveries(webhookId: () => number, pageSize: number) {
  const { t } = useI18n();
  const filter = ref<(typeof FILTERS)[number]>('all');
  return {
    filter,
    filters: computed(() =>
      FILTERS.map((value) => ({
        value,
        label: value === 'all' ? t('webhooks.anyState') : t(`webhooks.states.${value}`),
      })),
    ),
    list: useKeysetList({
      topic: ['deliveries', 'webhook'],
      request: () => ({
        webhook_id: webhookId(),
        ...(filter.value === 'all' ? {} : { status: filter.value }),
        limit: pageSize,
      }),
      fetch: adminClient.listDeliveries,
    }),
    /** For an empty list. */
    whyEmpty: computed(() =>
      filter.value === 'all'
        ? { text: t('webhooks.noDeliveries'), hint: t('webhooks.noDeliveriesHint') }
        : { text: t('webhooks.noneInState') },
    ),
  };
}
