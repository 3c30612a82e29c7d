// Checks a license file twice: as a machine without network would, and against what the service knows today.
import type { License, LicenseStore } from '../licenses/license-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReplyOf, RequestOf } from '../platform/endpoint.ts';
import { toTimestampOrNull } from '../platform/fields.ts';
import type { LicenseFiles } from '../signing/license-file-service.ts';
import type { LicenseFileVerification } from '../../verifier/verify-license-file.ts';
import type { activationContract, ValidationReason } from './activation-contract.ts';
import type { ActivationStore } from './activation-store.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  activations: Pick<ActivationStore, 'findLive'>;
  files: LicenseFiles;
  clock: Clock;
  byKey(licenseKey: string): { key: string };
  fileTtlDays: number;
}

type Reply = ReplyOf<typeof activationContract.validateOffline>;

/** Reasons that a new file would not mend. */
const FINAL: ReadonlySet<ValidationReason> = new Set([
  'signature_invalid',
  'unknown_key_id',
  'machine_mismatch',
  'product_mismatch',
  'not_yet_valid',
]);

export function createOfflineValidationService(needs: Needs) {
  /** What is wrong with the license today, whatever its file says. */
  async function reasonToday(license: License, fingerprint: string | null): Promise<ValidationReason | null> {
    if (license.revokedAt !== null) return 'license_revoked';
    if (needs.clock.now() >= license.graceEndsAt) return 'license_expired';
    if (fingerprint !== null && !(await needs.activations.findLive(license.id, fingerprint))) {
      return 'machine_not_activated';
    }
    return null;
  }

  /** Whether the file says anything else than a new one would. */
  function isOutdated(file: NonNullable<LicenseFileVerification['license']>, license: License): boolean {
    const current = needs.files.present(license, undefined);
    const fields = ['holder', 'product', 'plan', 'expires_at', 'grace_ends_at', 'max_activations'] as const;
    return (
      fields.some((field) => file[field] !== current[field]) ||
      file.features.join(' ') !== current.features.join(' ')
    );
  }

  return {
    async validate(request: RequestOf<typeof activationContract.validateOffline>): Promise<Reply> {
      const licenseKey = request.license_key === undefined ? undefined : needs.byKey(request.license_key);
      const file = await needs.files.verify({
        text: request.license_file,
        fingerprint: request.machine_fingerprint,
        product: request.product_slug,
        licenseKey: licenseKey?.key,
      });
      const signed = {
        signed_at: toTimestampOrNull(file.signedAt),
        file_expires_at: toTimestampOrNull(file.fileExpiresAt),
      };
      if (file.license === null || (file.reason !== null && FINAL.has(file.reason))) {
        return { valid: false, reason: file.reason, license: file.license as Reply['license'], ...signed };
      }
      const license = await needs.licenses.find({ key: file.license.license_key });
      // Signed by us and yet unknown: an older database was restored. Nothing vouches for the license any more.
      if (!license) return { valid: false, reason: 'license_revoked', license: null, ...signed };

      const fingerprint = file.machine?.fingerprint ?? null;
      const wrong = await reasonToday(license, fingerprint);
      const reply = { license: needs.files.present(license, fingerprint ?? undefined), ...signed };
      if (wrong !== null) return { valid: false, reason: wrong, ...reply };
      // The license is good, so a file that ran out, or was signed before a change, is replaced.
      const encrypt = file.checks.some((check) => check.rule === 'decryption');
      const renewed = () => needs.files.issue({ license, fingerprint, ttlDays: needs.fileTtlDays, encrypt });
      if (file.reason !== null)
        return { valid: false, reason: 'file_expired', ...reply, license_file: renewed() };
      return {
        valid: true,
        reason: null,
        ...reply,
        ...(isOutdated(file.license, license) ? { license_file: renewed() } : {}),
      };
    },
  };
}

export type OfflineValidationService = ReturnType<typeof createOfflineValidationService>;
