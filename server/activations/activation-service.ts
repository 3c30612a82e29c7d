// Devices take seats and give them back.
import type { Audit } from '../audit/audit-service.ts';
import { idFromCursor, toPage } from '../database/page.ts';
import type { RunTransaction } from '../database/transaction.ts';
import type { Events } from '../events/event-service.ts';
import type { LicenseReference, License, LicenseStore } from '../licenses/license-store.ts';
import type { Call } from '../platform/call.ts';
import type { Clock } from '../platform/clock.ts';
import type { RequestOf } from '../platform/endpoint.ts';
import { ApiError } from '../platform/errors.ts';
import type { FileOrder, LicenseFiles } from '../signing/license-file-service.ts';
import type { SigningKeyInUse } from '../signing/loaded-keys.ts';
import type { activationAdminContract, activationContract } from './activation-contract.ts';
import { toActivationObject, toDeviceObject } from './activation-presenter.ts';
import { refuseFull, refuseUnusable } from './activation-rules.ts';
import type { Activation, ActivationStore } from './activation-store.ts';
import { type Device, deviceOf, readMachineRequest } from './offline-request.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find' | 'findForChange' | 'update'>;
  activations: ActivationStore;
  files: LicenseFiles;
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  byKey(licenseKey: string): LicenseReference;
  licenseNotFound(): ApiError;
  /** The time to live of files that the API hands out. */
  fileTtlDays: number;
}

type DevicePage = Pick<RequestOf<typeof activationAdminContract.listDevices>, 'cursor' | 'limit'>;
type FileOptions = Pick<FileOrder, 'ttlDays' | 'encrypt'>;

export function createActivationService(needs: Needs) {
  const { licenses, activations, audit, events, transaction, clock } = needs;

  async function mustFindForChange(reference: LicenseReference): Promise<License> {
    const license = await licenses.findForChange(reference);
    if (!license) throw needs.licenseNotFound();
    return license;
  }

  async function takeSeat(
    license: License,
    device: Device,
    key: SigningKeyInUse,
    call: Call,
  ): Promise<{ license: License; activation: Activation }> {
    refuseFull(license);
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
    });
    if (license.firstActivatedAt === null) await licenses.update(license.id, { firstActivatedAt: now });
    const activated: License = {
      ...license,
      firstActivatedAt: license.firstActivatedAt ?? now,
      activationCount: license.activationCount + 1,
      newestFingerprint: device.machine_fingerprint,
    };
    await events.emit({ name: 'license.activated', license: activated });
    await audit.record(call, 'device.activated', `license:${license.id}`, null, toDeviceObject(activation));
    return { license: activated, activation };
  }

  /** The same device again gets the same activation back: no seat, no event. */
  async function activate(device: Device, file: FileOptions, call: Call) {
    const key = await needs.files.activeKey();
    const { license, activation } = await transaction(async () => {
      const found = await mustFindForChange(needs.byKey(device.license_key));
      refuseUnusable(found, device.product_slug, clock.now());
      const live = await activations.findLive(found.id, device.machine_fingerprint);
      if (!live) return takeSeat(found, device, key, call);
      if (live.signingKeyId !== key.id) await activations.recordSigningKey(live.id, key.id);
      return { license: found, activation: live };
    });
    const fingerprint = device.machine_fingerprint;
    return {
      license: needs.files.present(license, fingerprint),
      activation: toActivationObject(activation),
      license_file: needs.files.issue({ license, fingerprint, key, ...file }),
    };
  }

  return {
    activate: (request: RequestOf<typeof activationContract.activate>, call: Call) =>
      activate(request, { ttlDays: needs.fileTtlDays, encrypt: request.encrypt }, call),

    /** From the request file that an air-gapped machine made. */
    async activateOffline(request: RequestOf<typeof activationAdminContract.activateOffline>, call: Call) {
      const device = deviceOf(readMachineRequest(request.request));
      return activate(device, { ttlDays: request.ttl_days ?? null, encrypt: request.encrypt }, call);
    },

    async listDevices(reference: LicenseReference, { cursor, limit }: DevicePage) {
      const license = await licenses.find(reference);
      if (!license) throw needs.licenseNotFound();
      const devices = await activations.list(license.id, idFromCursor(cursor), limit);
      return toPage(devices, limit, toDeviceObject);
    },

    release: (reference: LicenseReference, fingerprint: string, call: Call) =>
      transaction(async () => {
        const license = await mustFindForChange(reference);
        const live = await activations.findLive(license.id, fingerprint);
        if (!live)
          throw new ApiError('device_not_found', 'no active device of the license has this fingerprint');
        // A clock that was set back must not make a release precede its activation.
        const releasedAt = Math.max(clock.now(), live.activatedAt);
        await activations.release(live.id, releasedAt);
        const device = toDeviceObject({ ...live, releasedAt });
        await audit.record(call, 'device.released', `license:${license.id}`, toDeviceObject(live), device);
        return { device };
      }),
  };
}

export type ActivationService = ReturnType<typeof createActivationService>;
