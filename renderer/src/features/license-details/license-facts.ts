// Facts about a license for the inspector and the printout.
import { computed } from 'vue';
import { useI18n } from 'vue-i18n';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';

export function useLicenseFacts(license: () => LicenseRecord) {
  const { t } = useI18n();

  /** `state` has no value: it is rendered as a status word. */
  const facts = computed(() => {
    const { holder, email, order_number: order, notes, product, plan, features } = license();
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
      ...(notes === null ? [] : [{ name: 'notes', label: t('licenses.notes'), value: notes }]),
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
