// What needs an administrator's attention, the worst first.
import {
  Armchair,
  CalendarClock,
  CircleX,
  FileClock,
  FileX2,
  type LucideIcon,
  ShieldAlert,
  TriangleAlert,
} from '@lucide/vue';
import { useQuery } from '@pinia/colada';
import { computed, type MaybeRefOrGetter, toValue } from 'vue';
import { useI18n } from 'vue-i18n';
import type { RouteLocationRaw } from 'vue-router';
import type { Alert, AlertCode } from '#server/features/alerts/alert-contract.ts';
import type { BackupProblem } from '#server/features/backup/backup-status-contract.ts';
import type { overviewContract } from '#server/features/overview/overview-contract.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { adminClient } from '../../api/admin-client.ts';
import { formatCount } from '../../i18n/i18n.ts';
import type { Texts } from '../../i18n/messages.ts';
import { useNow } from '../../now.ts';
import { formatDay } from '../../relative-time.ts';
import { floatingLink } from '../floating/floating-view.ts';
import { type Part, useHealth } from '../health/health-state.ts';

export interface AttentionItem {
  id: string;
  isCritical: boolean;
  icon: LucideIcon;
  title: string;
  detail?: string;
  /** ISO 8601 */
  since?: string;
  action?: { label: string; to: RouteLocationRaw };
}

type Figures = ReplyOf<typeof overviewContract.overview>;

/** A certificate authority is renewed well before clients refuse it. */
const AUTHORITY_NOTICE_MS = 60 * DAY_MS;
/** Remedied in the settings. */
const NETWORK_ALERTS: readonly AlertCode[] = [
  'admin_unencrypted',
  'api_unencrypted',
  'base_url_derived',
  'caller_address_forgeable',
];

const SERVER_ALERTS: readonly AlertCode[] = ['clock_skewed', 'server_lost', 'versions_differ'];
const BACKUP_ALERTS: readonly AlertCode[] = ['backup_failed', 'backup_missing', 'backup_overdue'];

export function useAttention(given: MaybeRefOrGetter<Figures | undefined>) {
  const { t } = useI18n();
  const now = useNow();
  const health = useHealth();
  const query = useQuery({ key: ['alerts'], query: () => adminClient.listAlerts({}) });
  const alerts = computed(() => query.data.value?.alerts ?? []);

  function actionOf({ code, params }: Alert): AttentionItem['action'] {
    const { license_id: id } = params;
    if (id !== undefined)
      return { label: t('alerts.openLicense'), to: { name: 'licenses', query: { open: String(id) } } };
    if (BACKUP_ALERTS.includes(code))
      return { label: t('alerts.openBackups'), to: { name: 'settings', query: { tab: 'backup' } } };
    if (SERVER_ALERTS.includes(code))
      return { label: t('alerts.openServers'), to: { name: 'settings', query: { tab: 'servers' } } };
    if (code === 'replica_unused')
      return { label: t('alerts.openSettings'), to: { name: 'settings', query: { tab: 'data' } } };
    return NETWORK_ALERTS.includes(code)
      ? { label: t('alerts.openNetwork'), to: { name: 'settings' } }
      : undefined;
  }

  function detailOf({ code, params }: Alert, values: Alert['params']): string {
    const text = t(`alerts.text.${code}`, values);
    if (code === 'backup_failed')
      return `${t(`backups.problems.${params['problem'] as BackupProblem}`, values)} ${text}`;
    if (code === 'replica_unused')
      return `${t(`alerts.replica.${params['problem'] as keyof Texts['alerts']['replica']}`)} ${text}`;
    return text;
  }

  function ofAlert(alert: Alert): AttentionItem {
    const { code, severity, subject, since, params } = alert;
    const values = { ...params, subject: subject ?? '' };
    const action = actionOf(alert);
    return {
      id: `${code} ${subject}`,
      isCritical: severity === 'critical',
      icon: severity === 'critical' ? CircleX : TriangleAlert,
      title: t(`alerts.titles.${code}`, values),
      detail: detailOf(alert, values),
      since,
      ...(action ? { action } : {}),
    };
  }

  /** Alerts say more about the same problem. */
  const ofHealth = computed(() => {
    if (alerts.value.some(({ severity }) => severity === 'critical')) return [];
    const failing = Object.entries(health.checks).filter(([, state]) => state === 'failing');
    return failing.map(([part]): AttentionItem => ({
      id: part,
      isCritical: true,
      icon: CircleX,
      title: t(`overview.failing.${part as Part}`),
      detail: t('overview.failingDetail'),
    }));
  });

  function ofDeliveries({ failed_deliveries: failed }: Figures): AttentionItem[] {
    if (failed === 0) return [];
    return [
      {
        id: 'deliveries',
        isCritical: true,
        icon: CircleX,
        title: t('overview.failedDeliveries', { n: formatCount(failed) }, failed),
        detail: t('overview.failedDeliveriesDetail'),
        action: { label: t('overview.reviewDeliveries'), to: { name: 'failed-events' } },
      },
    ];
  }

  function ofLicenses({ expiring }: Figures): AttentionItem[] {
    const { days_7: soon, days_30: later } = expiring;
    if (soon === 0) return [];
    return [
      {
        id: 'licenses',
        isCritical: false,
        icon: CalendarClock,
        title: t('overview.expireSoon', { n: formatCount(soon) }, soon),
        ...(later > soon
          ? { detail: t('overview.expireLater', { n: formatCount(later - soon) }, later - soon) }
          : {}),
        action: {
          label: t('overview.reviewLicenses'),
          to: { name: 'licenses', query: { expires_within_days: '7', sort: 'expires' } },
        },
      },
    ];
  }

  function ofPools({ busy_pools: { count, fullest } }: Figures): AttentionItem[] {
    const [first] = fullest;
    if (!first) return [];
    return [
      {
        id: 'pools',
        isCritical: false,
        icon: Armchair,
        title: t('overview.busyPools', { n: formatCount(count) }, count),
        detail: t(
          'overview.fullestPool',
          { holder: first.holder, used: formatCount(first.in_use), seats: formatCount(first.seats) },
          first.seats,
        ),
        action: {
          label: t('overview.reviewPools'),
          to:
            count === 1
              ? floatingLink('pools', { open: first.license_id })
              : floatingLink('pools', { busy: 1 }),
        },
      },
    ];
  }

  function ofCertificates({ revocation_list: list, authority }: Figures): AttentionItem[] {
    const open = (view: string) => ({
      label: t('overview.openCertificates'),
      to: { name: 'certificates', query: { view } },
    });
    const items: AttentionItem[] = [];
    if (list !== null && Date.parse(list.next_update) < now.value)
      items.push({
        id: 'list',
        isCritical: true,
        icon: FileX2,
        title: t('overview.listOverdue'),
        detail: t('overview.listOverdueDetail'),
        since: list.next_update,
        action: open('crl'),
      });
    else if (list?.waiting)
      items.push({
        id: 'list',
        isCritical: false,
        icon: FileClock,
        title: t('overview.listWaiting'),
        detail: t('overview.listWaitingDetail'),
        action: open('crl'),
      });
    const ends = authority === null ? Infinity : Date.parse(authority.not_after);
    if (authority !== null && ends - now.value < AUTHORITY_NOTICE_MS)
      items.push({
        id: 'authority',
        isCritical: ends < now.value,
        icon: ShieldAlert,
        title: t(ends < now.value ? 'overview.authorityEnded' : 'overview.authorityEnds', {
          date: formatDay(authority.not_after),
        }),
        detail: t('overview.authorityDetail'),
        action: open('authority'),
      });
    return items;
  }

  const items = computed(() => {
    const figures = toValue(given);
    const all = [
      ...alerts.value.map((alert) => ofAlert(alert)),
      ...ofHealth.value,
      ...(figures
        ? [...ofDeliveries(figures), ...ofLicenses(figures), ...ofPools(figures), ...ofCertificates(figures)]
        : []),
    ];
    return all.toSorted((a, b) => Number(b.isCritical) - Number(a.isCritical));
  });

  return {
    items,
    /** Whether an empty list means that all is well. */
    isKnown: computed(
      () =>
        query.data.value !== undefined && toValue(given) !== undefined && health.connection === 'answering',
    ),
  };
}
