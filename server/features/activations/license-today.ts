// The current state of a license whose file is being checked.
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { LicenseFileCheck } from '#server/features/signing/license-file-service.ts';
import { RULES_FOR, ruleOutcome, type VerdictQuestion } from '#server/rules/license-verdict.ts';
import type { RuleInputs } from './activation-contract.ts';
import type { Activation, ActivationStore } from './activation-store.ts';
import type { FileRuleName } from './air-gap-contract.ts';

export interface Today {
  /**
   * Null if this installation signed the file but the license is unknown, for example after an older database was
   * restored.
   */
  license: License | null;
  /** The activation of the file's device. Null if it is not active, undefined if the file is not bound to a device. */
  activation: Activation | null | undefined;
  /** Epoch milliseconds. */
  now: number;
}

function isActive(activation: Today['activation']): boolean | null {
  return activation === undefined ? null : activation !== null;
}

export function questionAbout({ license, activation, now }: Today): VerdictQuestion {
  return { license, now, isDeviceActive: isActive(activation) ?? undefined };
}

type TodayRule = (typeof RULES_FOR.license_file)[number];

/** The values that each rule compares. */
const INPUTS: Record<TodayRule, (today: Today) => RuleInputs> = {
  known: ({ license }) => ({ license_id: license?.id ?? null }),
  not_revoked: ({ license }) => ({ revoked_at: toTimestampOrNull(license?.revokedAt ?? null) }),
  in_term: ({ license, now }) => ({
    expires_at: toTimestampOrNull(license?.expiresAt ?? null),
    grace_ends_at: toTimestampOrNull(license?.graceEndsAt ?? null),
    now: toTimestamp(now),
  }),
  device: ({ license, activation }) => ({
    is_active: isActive(activation),
    ...(license?.licensing === 'floating' && { licensing: license.licensing }),
  }),
};

/** The outcome of each rule, in order. */
export function explainToday(today: Today) {
  const question = questionAbout(today);
  return RULES_FOR.license_file.map((rule) => ({
    rule: `${rule}_here` as const satisfies FileRuleName,
    outcome: ruleOutcome(rule, question),
    inputs: INPUTS[rule](today),
  }));
}

interface LookupNeeds {
  licenses: Pick<LicenseStore, 'find'>;
  activations: Pick<ActivationStore, 'findLive'>;
}

export function createTodayLookup({ licenses, activations }: LookupNeeds) {
  return async ({ license: signed, machine }: LicenseFileCheck, now: number): Promise<Today> => {
    const license = signed && (await licenses.find({ key: signed.license_key }));
    const activation =
      license && machine ? await activations.findLive(license.id, machine.fingerprint) : undefined;
    return { license, activation, now };
  };
}
