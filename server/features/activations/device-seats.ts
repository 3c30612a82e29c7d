// Gives a device a seat of a locked license, inside the caller's transaction.
import type { Events } from '#server/features/events/event-service.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { SigningKeyInUse } from '#server/features/signing/loaded-keys.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Activation, ActivationStore } from './activation-store.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'update'>;
  activations: Pick<ActivationStore, 'insert'>;
  events: Events;
  clock: Clock;
}

interface SeatedDevice {
  machine_fingerprint: string;
  machine_name?: string | undefined;
  platform?: string | undefined;
  app_version?: string | undefined;
}

interface Circumstances {
  key: SigningKeyInUse;
  /** Whether the device itself is calling. */
  isSeen: boolean;
  /** The activation whose seat it takes over; null if it takes a free one. */
  replacesId: number | null;
}

export interface Seated {
  license: License;
  activation: Activation;
}

/** @returns takes the seat; the caller has checked that there is one, and writes the audit entry */
export function createDeviceSeats({ licenses, activations, events, clock }: Needs) {
  return async (
    license: License,
    device: SeatedDevice,
    { key, isSeen, replacesId }: Circumstances,
  ): Promise<Seated> => {
    const now = clock.now();
    const activation = await activations.insert({
      licenseId: license.id,
      machineFingerprint: device.machine_fingerprint,
      machineName: device.machine_name ?? null,
      platform: device.platform ?? null,
      appVersion: device.app_version ?? null,
      activatedAt: now,
      releasedAt: null,
      signingKeyId: key.id,
      lastSeenAt: isSeen ? now : null,
      replacesId,
    });
    if (license.firstActivatedAt === null) await licenses.update(license.id, { firstActivatedAt: now });
    const activated: License = {
      ...license,
      firstActivatedAt: license.firstActivatedAt ?? now,
      activationCount: license.activationCount + 1,
      newestFingerprint: device.machine_fingerprint,
    };
    await events.emit({ name: 'license.activated', license: activated });
    return { license: activated, activation };
  };
}

export type DeviceSeats = ReturnType<typeof createDeviceSeats>;
