// What an administrator can do about a denied call.
import type { Remedy } from '#server/features/authorization-tokens/authorization-token-contract.ts';
import type { DenialReason } from '#server/features/denied-calls/denial-reason-contract.ts';

/** `issue_token` is for token checks, which the explanation does not cover. Null: nothing, the software is at fault. */
export const DENIAL_REMEDIES: Record<DenialReason, Remedy | 'issue_token' | null> = {
  license_revoked: 'new_license',
  license_expired: 'renew',
  product_mismatch: null,
  machine_not_activated: 'activate',
  feature_not_included: 'upgrade',
  token_invalid: 'issue_token',
  activation_limit_reached: 'release_device',
  license_is_floating: null,
};
