// Every exit code of the program, so that a script can tell outcomes apart without reading text.
import type { VerificationReason } from '../verifier/license-file-rules.ts';

export const EXIT_CODES = {
  ok: 0,
  failure: 1,
  usage: 2,
  notALicenseFile: 3,
} as const;

/** What `verify` exits with for a license file that is refused. Scripts rely on the numbers: only ever add to them. */
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
