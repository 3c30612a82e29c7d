// Moves a seat from one device to another, in one transaction.
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { License, LicenseReference } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { LicenseFiles } from '#server/features/signing/license-file-service.ts';
import type { SigningKeyInUse } from '#server/features/signing/loaded-keys.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { requireLicense } from '#server/rules/license-reference.ts';
import { refuseFloating, refuseUnusable } from '#server/rules/license-refusals.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { activationAdminContract } from './activation-contract.ts';
import { deviceNotFound, toDeviceObject } from './activation-presenter.ts';
import type { Activation, ActivationStore } from './activation-store.ts';
import type { DeviceSeats } from './device-seats.ts';
import type { DeviceSurgeWatch } from './device-surge.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'findForChange'>;
  activations: Pick<ActivationStore, 'findLive' | 'findNewest' | 'findSuccessor' | 'release' | 'recordFile'>;
  takeSeat: DeviceSeats;
  files: LicenseFiles;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  surges: Pick<DeviceSurgeWatch, 'onActivated'>;
}

type Request = Omit<RequestOf<typeof activationAdminContract.replaceDevice>, 'ref'>;

interface Replaced {
  license: License;
  released: Activation;
  activation: Activation;
  /** The one on record for the new device, which signs its file. */
  key: SigningKeyInUse;
  /** Whether this call has moved the seat. */
  isNew: boolean;
}

export function createDeviceReplacement(needs: Needs) {
  const { licenses, activations, takeSeat, files, audit, transaction, clock } = needs;

  /** A repeated call finds the device that took the seat. @throws ApiError `device_not_found` or `device_replaced` */
  async function successorOf(released: Activation | null, request: Request): Promise<Activation> {
    const successor = released && (await activations.findSuccessor(released.id));
    if (!successor) throw deviceNotFound();
    const { machineFingerprint: fingerprint, releasedAt, activatedAt } = successor;
    if (fingerprint === request.new_machine_fingerprint && releasedAt === null) return successor;
    throw new ApiError(
      'device_replaced',
      `the device was replaced by ${fingerprint} at ${toTimestamp(activatedAt)}`,
    );
  }

  const replaceLocked = (reference: LicenseReference, request: Request, call: Call): Promise<Replaced> =>
    transaction(async () => {
      const license = requireLicense(await licenses.findForChange(reference));
      const now = clock.now();
      refuseUnusable(license, undefined, now);
      refuseFloating(license);
      const { new_machine_fingerprint: fingerprint, machine_fingerprint: replaced, ...described } = request;
      const old = await activations.findNewest(license.id, replaced);
      if (!old || old.releasedAt !== null) {
        const activation = await successorOf(old, request);
        const key = await files.activeKey();
        await activations.recordFile(activation, key.id, now);
        return { license, released: old as Activation, activation, key, isNew: false };
      }
      if (await activations.findLive(license.id, fingerprint)) {
        throw new ApiError(
          'device_already_active',
          'the new device already has a seat of the license; release the old one instead',
        );
      }
      // If the clock was set back, the release must still not precede the activation.
      const released = { ...old, releasedAt: Math.max(now, old.activatedAt) };
      await activations.release(old.id, released.releasedAt);
      const key = await files.activeKey();
      const seated = await takeSeat(
        { ...license, activationCount: license.activationCount - 1 },
        { ...described, machine_fingerprint: fingerprint },
        { key, isSeen: false, replacesId: old.id },
      );
      await audit.record(
        call,
        'device.replaced',
        `license:${license.id}`,
        toDeviceObject(old),
        toDeviceObject(seated.activation),
      );
      return { ...seated, released, key, isNew: true };
    });

  return async (reference: LicenseReference, request: Request, call: Call) => {
    const { machine_fingerprint: replaced, new_machine_fingerprint: fingerprint } = request;
    if (replaced === fingerprint)
      throw refusedField('new_machine_fingerprint', 'must differ from machine_fingerprint');
    const { license, released, activation, key, isNew } = await replaceLocked(reference, request, call);
    if (isNew) needs.surges.onActivated(license);
    return {
      device: toDeviceObject(activation),
      released: toDeviceObject(released),
      license_file: files.issue({
        license,
        fingerprint,
        key,
        ttlDays: request.ttl_days ?? null,
        encrypt: request.encrypt,
      }),
    };
  };
}

export type DeviceReplacement = ReturnType<typeof createDeviceReplacement>;
