// All exit codes, so that scripts need not parse text.
import type { VerificationReason } from '../verifier/license-file-rules.ts';

export const EXIT_CODES = {
  ok: 0,
  failure: 1,
  usage: 2,
  notALicenseFile: 3,
  /** `lease run` has no seat, so the command was not started. 126 and 127 are about the command itself. */
  noSeat: 125,
} as const;

/** Exit codes of `verify` for a refused license file. Scripts rely on these numbers: never change one. */
export const EXIT_CODE_OF_REASON: Readonly<Record<VerificationReason, number>> = {
  signature_invalid: 10,
  unknown_key_id: 11,
  file_expired: 12,
  not_yet_valid: 13,
  license_expired: 14,
  license_revoked: 15,
  product_mismatch: 16,
  machine_mismatch: 17,
  feature_not_included: 18,
  clock_rolled_back: 19,
  key_distrusted: 20,
};
