// Whom a rule is about, in words.
import { useI18n } from 'vue-i18n';
import type { LeaseRuleObject, LeaseRuleType } from '#server/features/lease-rules/lease-rule-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export const MATCH_FIELDS = ['user', 'host', 'group', 'address'] as const;
export type MatchField = (typeof MATCH_FIELDS)[number];

export const RULE_TONES: Record<LeaseRuleType, Tone> = {
  allow: 'ok',
  deny: 'bad',
  max: 'warn',
  reserve: 'info',
};

/** Types that count seats. */
export const hasUnits = (type: LeaseRuleType): boolean => type === 'max' || type === 'reserve';

export function useMatchText(): (match: LeaseRuleObject['match']) => string {
  const { t } = useI18n();
  return (match) =>
    MATCH_FIELDS.flatMap((field) => {
      const value = match[field];
      return value === undefined ? [] : [`${t(`leaseRules.fields.${field}`)} ${value}`];
    }).join(', ') || t('leaseRules.everyone');
}
