// Why a call is denied, without schemas: the command line starts without loading them.

export const DENIAL_REASONS = [
  'license_revoked',
  'license_expired',
  'product_mismatch',
  'machine_not_activated',
  'feature_not_included',
  'token_invalid',
  'activation_limit_reached',
  'license_is_floating',
] as const;

export type DenialReason = (typeof DENIAL_REASONS)[number];
