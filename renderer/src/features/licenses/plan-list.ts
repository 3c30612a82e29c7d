// The plans, for whatever lets one be chosen.
import { useQuery } from '@pinia/colada';
import { computed, type ComputedRef } from 'vue';
import { useI18n } from 'vue-i18n';
import type { PlanObject } from '#server/features/plans/plan-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import { formatCount } from '../../i18n/i18n.ts';

/** More than anybody would let others choose from. */
const MOST_PLANS = 500;

/** Lowest tier first; none as long as they are not known. */
export function usePlans(): ComputedRef<readonly PlanObject[]> {
  const query = useQuery({
    key: ['plans', 'all'],
    query: () => adminClient.listPlans({ limit: MOST_PLANS }),
  });
  return computed(() => query.data.value?.plans ?? []);
}

/** What tells plans apart in a list of choices. */
export function usePlanOption(): (plan: PlanObject) => string {
  const { t } = useI18n();
  return ({ display_name: name, duration_days: days, max_activations: most }) => {
    const devices =
      most === null ? t('licenses.anyDevices') : t('licenses.devicesAllowed', { n: formatCount(most) }, most);
    return t('licenses.planOption', { name, days: formatCount(days), devices });
  };
}
