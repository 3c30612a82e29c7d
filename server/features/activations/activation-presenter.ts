import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { ActivationObject, DeviceObject } from './activation-contract.ts';
import type { Activation } from './activation-store.ts';

export function toActivationObject(activation: Activation): ActivationObject {
  return {
    id: activation.id,
    machine_fingerprint: activation.machineFingerprint,
    machine_name: activation.machineName,
    activated_at: toTimestamp(activation.activatedAt),
  };
}

/** An activation as shown to administrators. */
export function toDeviceObject(activation: Activation): DeviceObject {
  return {
    ...toActivationObject(activation),
    platform: activation.platform,
    app_version: activation.appVersion,
    released_at: toTimestampOrNull(activation.releasedAt),
    last_seen_at: toTimestampOrNull(activation.lastSeenAt),
    replaces_device_id: activation.replacesId,
  };
}

export function deviceNotFound(): ApiError {
  return new ApiError('device_not_found', 'no active device of the license has this fingerprint');
}
