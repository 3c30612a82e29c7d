// The plans, for pickers.
import { useQuery } from '@pinia/colada';
import { computed, type ComputedRef } from 'vue';
import { useI18n } from 'vue-i18n';
import type { PlanObject } from '#server/features/plans/plan-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import { formatCount } from '../../i18n/i18n.ts';

/** More plans than a picker can reasonably offer. */
const MAX_PLANS = 500;

/** The plans, and what resolves once they are loaded and rejects if they cannot be. */
export function usePlanList(): { plans: ComputedRef<readonly PlanObject[]>; load(): Promise<unknown> } {
  const query = useQuery({
    key: ['plans', 'all'],
    query: () => adminClient.listPlans({ limit: MAX_PLANS }),
  });
  return { plans: computed(() => query.data.value?.plans ?? []), load: () => query.refresh(true) };
}

/** Lowest tier first; empty until loaded. */
export const usePlans = (): ComputedRef<readonly PlanObject[]> => usePlanList().plans;

/** Null: any number. */
export const seatsOfPlan = ({ licensing, seats, max_activations: devices }: PlanObject): number | null =>
  licensing === 'floating' ? seats : devices;

/** The display name, with the name where several plans have the same one. @param plans all of them */
export function planTitle({ name, display_name: title }: PlanObject, plans: readonly PlanObject[]): string {
  const isShared = plans.some((other) => other.name !== name && other.display_name === title);
  return isShared ? `${title} (${name})` : title;
}

/** The text of a plan in a picker. @param plans all of them */
export function usePlanOption(plans: () => readonly PlanObject[]): (plan: PlanObject) => string {
  const { t } = useI18n();
  return (plan) => {
    const name = planTitle(plan, plans());
    const { duration_days: days } = plan;
    const isFloating = plan.licensing === 'floating';
    const most = seatsOfPlan(plan);
    const devices =
      most === null
        ? t(isFloating ? 'licenses.anyFloating' : 'licenses.anyDevices')
        : t(
            isFloating ? 'licenses.floatingSeats' : 'licenses.devicesAllowed',
            { n: formatCount(most) },
            most,
          );
    return t('licenses.planOption', { name, days: formatCount(days), devices }, days);
  };
}
