// The draft of the initial setup, and the calls that complete it.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { PlanObject } from '#server/features/plans/plan-contract.ts';
import type { SettingObject } from '#server/features/settings/settings-contract.ts';
import { adminClient } from '../../api/admin-client.ts';
import { onceOf } from '../../api/once.ts';
import { atSessionEnd } from '../../session-end.ts';
import { createTabStorage } from '../../tab-storage.ts';

/** In the order of the steps. */
export const STEPS = ['product', 'reach', 'plan'] as const;

export const THIS_MACHINE = '127.0.0.1';
export const WHOLE_NETWORK = '0.0.0.0';

/** The settings that the steps change. */
const ASKED = ['default_product', 'host', 'tls'] as const;
export type Asked = (typeof ASKED)[number];

export interface FirstRunDraft {
  /** Only what the user changed here: the other settings may change elsewhere meanwhile. */
  chosen: Partial<Record<Asked, string | undefined>>;
  /** The name of an existing plan; empty for a new one. */
  planName: string;
  newPlan: { name: string; durationDays: number; maxActivations: number };
  wantsLicense: boolean;
}

/** A reload of the page keeps the step, and must not fill in the defaults again. */
export const storedDraft = createTabStorage<FirstRunDraft>('license-desk-first-run');
atSessionEnd(storedDraft.forget);

const valueOf = (settings: readonly SettingObject[], name: Asked) =>
  settings.find((setting) => setting.name === name)?.next_value ?? '';

/** A setting as the steps show it. */
export const askedValue = ({ chosen }: FirstRunDraft, settings: readonly SettingObject[], name: Asked) =>
  chosen[name] ?? valueOf(settings, name);

export function choose(
  { chosen }: FirstRunDraft,
  settings: readonly SettingObject[],
  name: Asked,
  value: string,
): void {
  chosen[name] = value === valueOf(settings, name) ? undefined : value;
}

export function draftOf(plans: readonly PlanObject[]): FirstRunDraft {
  const first = plans.find(({ name }) => name === 'standard') ?? plans[0];
  return {
    chosen: {},
    planName: first?.name ?? '',
    newPlan: { name: '', durationDays: 365, maxActivations: 3 },
    wantsLicense: true,
    ...storedDraft.read(),
  };
}

/** The chosen settings that differ from their current values. */
function changedSettings(draft: FirstRunDraft, settings: readonly SettingObject[]): Record<string, string> {
  const changed = ASKED.filter((name) => askedValue(draft, settings, name) !== valueOf(settings, name));
  return Object.fromEntries(changed.map((name) => [name, askedValue(draft, settings, name)]));
}

interface Present {
  settings: readonly SettingObject[];
  plans: readonly PlanObject[];
}

/** A second call after an error continues where the first one failed, unless something else was chosen meanwhile. */
export function createFirstRun() {
  const createLicense = onceOf('createLicense');
  let created: { from: string; plan: PlanObject } | null = null;
  let license: LicenseRecord | null = null;

  async function choosePlan(
    { planName, newPlan }: FirstRunDraft,
    plans: readonly PlanObject[],
  ): Promise<Pick<PlanObject, 'name' | 'product'>> {
    // The server refuses a plan that was removed meanwhile.
    if (planName) return plans.find(({ name }) => name === planName) ?? { name: planName, product: null };
    const from = JSON.stringify(newPlan);
    if (created?.from === from) return created.plan;
    const { name, durationDays, maxActivations } = newPlan;
    const { plan } = await adminClient.createPlan({
      name,
      display_name: name,
      duration_days: durationDays,
      max_activations: maxActivations,
    });
    created = { from, plan };
    return plan;
  }

  return async (
    draft: FirstRunDraft,
    { settings, plans }: Present,
    holder: string,
  ): Promise<LicenseRecord | null> => {
    const changes = changedSettings(draft, settings);
    if (Object.keys(changes).length > 0) await adminClient.updateSettings({ changes });
    const plan = await choosePlan(draft, plans);
    if (draft.wantsLicense && license?.plan !== plan.name) {
      const product = plan.product ?? askedValue(draft, settings, 'default_product');
      ({ license } = await createLicense({ holder, plan: plan.name, product }));
    }
    await adminClient.finishFirstRun({});
    return license;
  };
}
