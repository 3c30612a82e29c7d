// Checks a license file twice: as an offline device would, and against the current data.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { LicenseObject } from '#server/features/licenses/license-contract.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { toTimestampOrNull } from '#server/wire/fields.ts';
import type { LicenseFileCheck, LicenseFiles } from '#server/features/signing/license-file-service.ts';
import type { SigningKeyInUse } from '#server/features/signing/loaded-keys.ts';
import type { activationContract } from './activation-contract.ts';
import { type ActivationStore, isOnRecord } from './activation-store.ts';
import type { DeviceSightings } from './device-sightings.ts';
import { byKey } from '#server/rules/license-reference.ts';
import { isInvalidInAnyState, licenseFileVerdict } from '#server/rules/license-verdict.ts';
import { createTodayLookup, questionAbout, type Today } from './license-today.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find' | 'findForChange'>;
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

type Request = RequestOf<typeof activationContract.validateOffline>;
type Reply = ReplyOf<typeof activationContract.validateOffline>;

/** A file that replaces an outdated one, for the same device or for any. */
interface Replacement {
  license: License;
  activation: Today['activation'];
  encrypt: boolean;
}

interface Finding {
  reply: Reply;
  /** Null if the file is invalid regardless of the license's current state. */
  today: Today | null;
  /** Null if no new file is due. */
  replacement: Replacement | null;
}

export function createOfflineValidationService(needs: Needs) {
  const { licenses, activations, files, clock } = needs;
  const lookUpToday = createTodayLookup({ licenses, activations });
  const lookUpLocked = createTodayLookup({ licenses: { find: licenses.findForChange }, activations });

  /** Whether a new file would have different content. */
  function isOutdated(file: NonNullable<LicenseFileCheck['license']>, license: License): boolean {
    const current = files.present(license, undefined);
    const fields = ['holder', 'product', 'plan', 'expires_at', 'grace_ends_at', 'max_activations'] as const;
    return (
      fields.some((field) => file[field] !== current[field]) ||
      completed(file).seats !== current.seats ||
      file.features.join(' ') !== current.features.join(' ')
    );
  }

  async function check(request: Request, lookUp: typeof lookUpToday): Promise<Finding> {
    const licenseKey = request.license_key === undefined ? undefined : byKey(request.license_key);
    const file = await files.verify({
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
      const license = file.license && completed(file.license);
      const reply = { valid: false, reason: file.reason, license, ...signed };
      return { reply, today: null, replacement: null };
    }
    const today = await lookUp(file, clock.now());
    const { license, activation } = today;
    const reason = licenseFileVerdict(file, questionAbout(today));
    if (!license)
      return { reply: { valid: false, reason, license: null, ...signed }, today, replacement: null };

    const fingerprint = file.machine?.fingerprint ?? null;
    const current = files.present(license, fingerprint ?? undefined);
    const reply = { valid: reason === null, reason, license: current, ...signed };
    // The license is valid, so a file that expired, is not valid yet or was signed before a change is replaced.
    const isOver = reason === 'file_expired' || reason === 'not_yet_valid';
    // Signed by a clock that is ahead, a new file would not be valid on the device, unlike the one that it has.
    const isReplaced =
      isOver || (reason === null && isOutdated(file.license, license) && needs.isClockTrusted());
    const encrypt = file.checks.some(({ rule }) => rule === 'decryption');
    return { reply, today, replacement: isReplaced ? { license, activation, encrypt } : null };
  }

  function sign({ license, activation, encrypt }: Replacement, key: SigningKeyInUse): string {
    const fingerprint = activation?.machineFingerprint ?? null;
    return files.issue({ license, fingerprint, ttlDays: needs.fileTtlDays, encrypt, key });
  }

  /** Checks again under the lock, because other changes may have come first. */
  async function replaceLocked(request: Request): Promise<Reply> {
    const { reply, replacement } = await check(request, lookUpLocked);
    if (!replacement) return reply;
    const { license, activation } = replacement;
    const key = await files.activeKey();
    if (activation) await activations.recordFile(activation, key.id, clock.now());
    else await activations.recordUnboundFile(license.id, key.id, clock.now());
    return { ...reply, license_file: sign(replacement, key) };
  }

  return {
    async validate(request: Request): Promise<Reply> {
      const { reply, today, replacement } = await check(request, lookUpToday);
      const device = today?.activation;
      // Anyone can check a file; only the device itself is known by its fingerprint.
      if (device && request.machine_fingerprint === device.machineFingerprint)
        needs.sightings.note({ activationId: device.id, lastSeenAt: device.lastSeenAt }, today.now);
      if (!replacement) return reply;
      const key = await files.activeKey();
      // Another file for the device under the same key changes nothing, so it does not wait for the single writer.
      if (replacement.activation && isOnRecord(replacement.activation, key.id))
        return { ...reply, license_file: sign(replacement, key) };
      return needs.transaction(() => replaceLocked(request));
    },
  };
}

export type OfflineValidationService = ReturnType<typeof createOfflineValidationService>;
