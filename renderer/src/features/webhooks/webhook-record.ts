// One webhook with what can be done with it, for the inspector and for its own page.
import { Copy, Pause, Pencil, Play, RotateCcwKey, Send, Trash2 } from '@lucide/vue';
import { useQuery, useQueryCache } from '@pinia/colada';
import { computed, ref } from 'vue';
import { useI18n } from 'vue-i18n';
import { adminClient } from '../../api/admin-client.ts';
import { failureOf } from '../../api/query-failure.ts';
import { useCall } from '../../api/call-state.ts';
import type { MenuAction } from '../../components/action-menu.ts';
import { copyText } from '../../components/copy-text.ts';
import { showToast } from '../../components/toasts.ts';
import { useRecentRecord } from '../../recent-records.ts';
import { useCommands } from '../../shell/palette-state.ts';
import { healthOf, hostOf } from './webhook-state.ts';

export type WebhookRecord = ReturnType<typeof useWebhookRecord>;

export function useWebhookRecord(id: () => number) {
  const { t } = useI18n();
  /** By its ID, because the list may not have reached it yet. */
  const query = useQuery({
    key: () => ['webhooks', 'one', String(id())],
    query: () => adminClient.showWebhook({ id: id() }),
  });
  const webhook = computed(() => query.data.value?.webhook);
  const host = computed(() => (webhook.value ? hostOf(webhook.value.url) : ''));

  const queries = useQueryCache();
  const test = useCall(() => adminClient.testWebhook({ id: id() }));
  const tested = ref<Awaited<ReturnType<typeof adminClient.testWebhook>>['attempt'] | null>(null);
  async function sendTest(): Promise<void> {
    tested.value = null;
    tested.value = (await test.run())?.attempt ?? null;
    // The result is on the webhook too, here and in the list.
    await queries.invalidateQueries({ key: ['webhooks'] });
  }

  const pause = useCall(async (paused: boolean) => {
    // When it is undone, another webhook may be open.
    const [target, itsHost] = [id(), host.value];
    await adminClient.updateWebhook({ id: target, paused });
    showToast(t(paused ? 'webhooks.pausedToast' : 'webhooks.resumedToast', { host: itsHost }), {
      undo: async () => {
        await adminClient.updateWebhook({ id: target, paused: !paused });
      },
    });
  });

  const asking = ref<'edit' | 'rotate' | 'delete' | null>(null);
  const moreActions = computed((): MenuAction[] => [
    { id: 'edit', label: t('webhooks.edit'), icon: Pencil, run: () => (asking.value = 'edit') },
    webhook.value?.paused
      ? { id: 'resume', label: t('webhooks.resume'), icon: Play, run: () => void pause.run(false) }
      : { id: 'pause', label: t('webhooks.pause'), icon: Pause, run: () => void pause.run(true) },
    { id: 'rotate', label: t('webhooks.rotate'), icon: RotateCcwKey, run: () => (asking.value = 'rotate') },
    {
      id: 'delete',
      label: t('webhooks.delete'),
      icon: Trash2,
      isDanger: true,
      run: () => (asking.value = 'delete'),
    },
  ]);

  useCommands(() => {
    const open = webhook.value;
    if (!open) return [];
    const actions: readonly MenuAction[] = [
      { id: 'test', label: t('webhooks.sendTest'), icon: Send, run: () => void sendTest() },
      { id: 'copy-url', label: t('webhooks.copyUrl'), icon: Copy, run: () => void copyText(open.url) },
      ...moreActions.value,
    ];
    return actions.map(({ id: action, label, icon, run }) => ({
      id: `webhook-${action}`,
      label,
      icon,
      about: open.description ?? host.value,
      run,
    }));
  });
  useRecentRecord(() => ({
    screen: 'webhooks',
    open: String(id()),
    title: webhook.value?.description ?? host.value,
  }));

  return {
    webhook,
    host,
    hasCa: computed(() => query.data.value?.own_ca ?? false),
    health: computed(() => (webhook.value ? healthOf(webhook.value) : null)),
    failure: failureOf(query),
    test,
    /** The result of the last test event. */
    tested,
    sendTest,
    pause,
    asking,
    moreActions,
  };
}
