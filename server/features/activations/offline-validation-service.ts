// Checks a license file twice: as an offline device would, and against the current data.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { LicenseObject } from '#server/features/licenses/license-contract.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { toTimestampOrNull } from '#server/wire/fields.ts';
import type { LicenseFileCheck, LicenseFiles } from '#server/features/signing/license-file-service.ts';
import type { activationContract } from './activation-contract.ts';
import { type ActivationStore, isOnRecord } from './activation-store.ts';
import type { DeviceSightings } from './device-sightings.ts';
import { byKey } from '#server/rules/license-reference.ts';
import { isInvalidInAnyState, licenseFileVerdict } from '#server/rules/license-verdict.ts';
import { createTodayLookup, questionAbout, type Today } from './license-today.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  activations: Pick<ActivationStore, 'findLive' | 'recordFile' | 'recordUnboundFile'>;
  files: LicenseFiles;
  transaction: RunTransaction;
  clock: Clock;
  isClockTrusted(): boolean;
  fileTtlDays: number;
  sightings: Pick<DeviceSightings, 'note'>;
}

/** Files of servers that knew no floating licenses do not say that theirs is node-locked. */
export function completed(license: NonNullable<LicenseFileCheck['license']>): LicenseObject {
  const { licensing = 'node_locked', seats = license.max_activations } = license;
  return { ...(license as LicenseObject), licensing, seats };
}

type Reply = ReplyOf<typeof activationContract.validateOffline>;

export function createOfflineValidationService(needs: Needs) {
  const lookUpToday = createTodayLookup(needs);

  /** Whether a new file would have different content. */
  function isOutdated(file: NonNullable<LicenseFileCheck['license']>, license: License): boolean {
    const current = needs.files.present(license, undefined);
    const fields = ['holder', 'product', 'plan', 'expires_at', 'grace_ends_at', 'max_activations'] as const;
    return (
      fields.some((field) => file[field] !== current[field]) ||
      completed(file).seats !== current.seats ||
      file.features.join(' ') !== current.features.join(' ')
    );
  }

  /** Signs a file that replaces an outdated one, for the same device or for any. */
  async function reissue(
    license: License,
    activation: Today['activation'],
    encrypt: boolean,
  ): Promise<string> {
    const key = await needs.files.activeKey();
    const now = needs.clock.now();
    if (!activation) {
      await needs.transaction(() => needs.activations.recordUnboundFile(license.id, key.id, now));
    } else if (!isOnRecord(activation, key.id)) {
      await needs.transaction(() => needs.activations.recordFile(activation, key.id, now));
    }
    const fingerprint = activation?.machineFingerprint ?? null;
    return needs.files.issue({ license, fingerprint, ttlDays: needs.fileTtlDays, encrypt, key });
  }

  return {
    async validate(request: RequestOf<typeof activationContract.validateOffline>): Promise<Reply> {
      const licenseKey = request.license_key === undefined ? undefined : byKey(request.license_key);
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
      if (file.license === null || isInvalidInAnyState(file)) {
        return {
          valid: false,
          reason: file.reason,
          license: file.license && completed(file.license),
          ...signed,
        };
      }
      const today = await lookUpToday(file, needs.clock.now());
      const { license, activation } = today;
      // Anyone can check a file; only the device itself is known by its fingerprint.
      if (activation && request.machine_fingerprint === activation.machineFingerprint)
        needs.sightings.note({ activationId: activation.id, lastSeenAt: activation.lastSeenAt }, today.now);
      const reason = licenseFileVerdict(file, questionAbout(today));
      if (!license) return { valid: false, reason, license: null, ...signed };

      const fingerprint = file.machine?.fingerprint ?? null;
      const reply = { license: needs.files.present(license, fingerprint ?? undefined), ...signed };
      if (reason !== null && reason !== 'file_expired' && reason !== 'not_yet_valid')
        return { valid: false, reason, ...reply };
      // The license is valid, so a file that expired, is not valid yet or was signed before a change is replaced.
      const encrypt = file.checks.some((check) => check.rule === 'decryption');
      const renewed = () => reissue(license, today.activation, encrypt);
      if (reason !== null) return { valid: false, reason, ...reply, license_file: await renewed() };
      // Signed by a clock that is ahead, a new file would not be valid on the device, unlike the one that it has.
      const isReplaced = isOutdated(file.license, license) && needs.isClockTrusted();
      return {
        valid: true,
        reason: null,
        ...reply,
        ...(isReplaced ? { license_file: await renewed() } : {}),
      };
    },
  };
}

export type OfflineValidationService = ReturnType<typeof createOfflineValidationService>;
