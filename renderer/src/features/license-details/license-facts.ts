// Facts about a license for the inspector and the printout. The holder may read all of them.
import { computed } from 'vue';
import { useI18n } from 'vue-i18n';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { formatCount } from '../../i18n/i18n.ts';
import { exactDuration } from '../../relative-time.ts';

export function useLicenseFacts(license: () => LicenseRecord) {
  const { t } = useI18n();

  function seatFacts(limits: LicenseRecord['seat_limits']) {
    if (limits === null) return [];
    const {
      seats,
      overdraft_seats: more,
      borrow_max_hours: hours,
      lease_seconds: seconds,
      overridden,
    } = limits;
    const most = seats === null ? t('common.noLimit') : formatCount(seats);
    const fact = (name: string, label: string, value: string, isOwn = false) => ({
      name,
      label,
      value: isOwn ? t('licenseDetails.ownLimit', { value }) : value,
    });
    return [
      fact('licensing', t('plans.rows.licensing'), t('plans.licensings.floating')),
      fact('seats', t('plans.rows.devices'), most, overridden.includes('seats')),
      ...(more === 0
        ? []
        : [
            fact(
              'overdraft',
              t('plans.fields.overdraft'),
              formatCount(more),
              overridden.includes('overdraft_seats'),
            ),
          ]),
      fact('lease', t('plans.rows.lease'), exactDuration(seconds)),
      fact('countBy', t('plans.fields.countBy'), t(`plans.countBy.${limits.count_by}`)),
      fact(
        'borrow',
        t('plans.rows.borrow'),
        t('plans.hours', { n: formatCount(hours) }, hours),
        overridden.includes('borrow_max_hours'),
      ),
    ];
  }

  /** `state` has no value: it is rendered as a status word. */
  const facts = computed(() => {
    const { holder, email, order_number: order, product, plan, features } = license();
    return [
      { name: 'state', label: t('licenses.columns.state') },
      { name: 'holder', label: t('licenses.columns.holder'), value: holder },
      { name: 'email', label: t('licenses.email'), value: email ?? '–' },
      ...(order === null
        ? []
        : [{ name: 'order', label: t('licenses.orderNumber'), value: order, mono: true }]),
      { name: 'product', label: t('licenses.columns.product'), value: product },
      { name: 'plan', label: t('licenses.columns.plan'), value: plan },
      {
        name: 'features',
        label: t('licenseDetails.features'),
        value: features.join(', ') || t('common.none'),
      },
      ...seatFacts(license().seat_limits),
    ];
  });

  /** Only the dates that are set. */
  const moments = computed(() => {
    const { issued_at, first_activated_at, expires_at, grace_ends_at, revoked_at } = license();
    return [
      { name: 'issued', label: t('licenses.columns.created'), at: issued_at },
      { name: 'first', label: t('licenseDetails.firstActivated'), at: first_activated_at },
      { name: 'expires', label: t('licenses.columns.expires'), at: expires_at },
      {
        name: 'grace',
        label: t('licenseDetails.graceEnds'),
        at: grace_ends_at === expires_at ? null : grace_ends_at,
      },
      { name: 'revoked', label: t('licenseDetails.revokedAt'), at: revoked_at },
    ].flatMap(({ at, ...moment }) => (at === null ? [] : [{ ...moment, at }]));
  });

  return { facts, moments };
}
