// License states with their colors.
import { LICENSE_STATES } from '#server/features/licenses/license-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';

export type LicenseState = (typeof LICENSE_STATES)[number];

export const STATE_TONES: Record<LicenseState, Tone> = {
  issued: 'info',
  active: 'ok',
  expiring: 'warn',
  in_grace: 'grace',
  expired: 'idle',
  revoked: 'revoked',
};

/** A state from the URL, where any text is possible. */
export function toLicenseState(text: string | undefined): LicenseState | undefined {
  return LICENSE_STATES.find((state) => state === text);
}
