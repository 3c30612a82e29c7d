// Activates and releases devices.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { idFromCursor, toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { DENIAL_REASONS } from '#server/features/denied-calls/denial-reason-contract.ts';
import type { DeniedCallLog } from '#server/features/denied-calls/denied-call-log.ts';
import type { LicenseReference, License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { FileOrder, LicenseFiles } from '#server/features/signing/license-file-service.ts';
import type { SigningKeyInUse } from '#server/features/signing/loaded-keys.ts';
import type { activationAdminContract, activationContract } from './activation-contract.ts';
import { deviceNotFound, toActivationObject, toDeviceObject } from './activation-presenter.ts';
import { byKey, requireLicense } from '#server/rules/license-reference.ts';
import { hasFreeSeat, refuseFloating, refuseFull, refuseUnusable } from '#server/rules/license-refusals.ts';
import { type Activation, type ActivationStore, isOnRecord } from './activation-store.ts';
import type { DeviceLimit } from './device-limit.ts';
import type { DeviceSightings } from './device-sightings.ts';
import type { DeviceSeats } from './device-seats.ts';
import type { DeviceSurgeWatch } from './device-surge.ts';
import { type Device, deviceOf, readMachineRequest } from './offline-request.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find' | 'findFirst' | 'findForChange' | 'lookUp'>;
  activations: ActivationStore;
  files: LicenseFiles;
  takeSeat: DeviceSeats;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  /** Time to live of license files that the API issues. */
  fileTtlDays: number;
  limit: DeviceLimit;
  denials: Pick<DeniedCallLog, 'record'>;
  surges: Pick<DeviceSurgeWatch, 'onActivated'>;
  sightings: Pick<DeviceSightings, 'note' | 'flush'>;
}

interface Found {
  license: License;
  /** Null if the device needs a seat. */
  activation: Activation | null;
}

/** Called as soon as the license is known, which a refusal then belongs to. */
type OnFound = (license: License) => void;

interface Activated {
  license: License;
  activation: Activation;
  /** The one on record for the device, which signs its file. */
  key: SigningKeyInUse;
  /** Whether this call used a new seat. */
  isNew: boolean;
}

/** Administrators have no device limit. */
const UNLIMITED: DeviceLimit = { reserve: () => () => {} };

type DevicePage = Pick<RequestOf<typeof activationAdminContract.listDevices>, 'cursor' | 'limit'>;
type FileOptions = Pick<FileOrder, 'ttlDays' | 'encrypt'>;

/** Who activates the device, and the license file that it gets. */
interface Way {
  limit: DeviceLimit;
  file: FileOptions;
  /** Whether the device itself is calling. */
  isSeen: boolean;
}

export function createActivationService(needs: Needs) {
  const { licenses, activations, audit, transaction, clock } = needs;

  async function mustFindForChange(reference: LicenseReference): Promise<License> {
    return requireLicense(await licenses.findForChange(reference));
  }

  async function takeSeat(license: License, device: Device, isSeen: boolean, call: Call): Promise<Activated> {
    refuseFull(license);
    const key = await needs.files.activeKey();
    const seated = await needs.takeSeat(license, device, { key, isSeen, replacesId: null });
    const activated = toDeviceObject(seated.activation);
    await audit.record(call, 'device.activated', `license:${license.id}`, null, activated);
    return { ...seated, key, isNew: true };
  }

  /**
   * Answers without a transaction if nothing changes. Most calls change nothing, and must neither wait for the single
   * writer nor keep it busy.
   * @returns only the license if the device needs a seat
   */
  async function lookUp(device: Device, onFound: OnFound): Promise<Found> {
    const reference = byKey(device.license_key);
    // Read before the license, so that the license's count includes this device.
    const first = await activations.lookUpLive(reference.key, device.machine_fingerprint);
    const license = requireLicense(await licenses.lookUp(reference.key));
    onFound(license);
    refuseUnusable(license, device.product_slug, clock.now());
    refuseFloating(license);
    if (first || hasFreeSeat(license)) return { license, activation: first };
    // The last seat may have gone to this device, in a concurrent call.
    const activation = await activations.findLive(license.id, device.machine_fingerprint);
    if (!activation) refuseFull(license);
    return { license, activation };
  }

  /** @returns null if there is something to record */
  async function unchanged({ license, activation }: Found): Promise<Activated | null> {
    if (!activation) return null;
    const key = await needs.files.activeKey();
    return isOnRecord(activation, key.id) ? { license, activation, key, isNew: false } : null;
  }

  /** Checks again under the lock, because other calls may have come first. @param licenseKey in canonical form */
  function activateLocked(
    licenseKey: string,
    device: Device,
    isSeen: boolean,
    call: Call,
  ): Promise<Activated> {
    let found: License | null = null;
    let activation: Activation | null = null;
    async function read(): Promise<void> {
      found = await licenses.findFirst({ key: licenseKey });
      activation = await activations.findLiveFirst(licenseKey, device.machine_fingerprint);
    }
    const change = async () => {
      const license = requireLicense(found);
      refuseUnusable(license, device.product_slug, clock.now());
      refuseFloating(license);
      if (!activation) return takeSeat(license, device, isSeen, call);
      const key = await needs.files.activeKey();
      await activations.recordFile(activation, key.id, clock.now());
      return { license, activation, key, isNew: false };
    };
    return transaction(change, call, { first: { subject: licenseKey, read } });
  }

  async function activateNew(
    { id, licenseKey }: License,
    device: Device,
    isSeen: boolean,
    limit: DeviceLimit,
    call: Call,
  ): Promise<Activated> {
    const end = limit.reserve(id, device.machine_fingerprint);
    let isNew = false;
    try {
      const activated = await activateLocked(licenseKey, device, isSeen, call);
      ({ isNew } = activated);
      if (isNew) needs.surges.onActivated(activated.license);
      return activated;
    } finally {
      end(isNew);
    }
  }

  function noteDenial(licenseId: number, device: Device, error: unknown, { address }: Call): void {
    const errorCode = DENIAL_REASONS.find((code) => error instanceof ApiError && error.code === code);
    if (!errorCode) return;
    needs.denials.record({
      licenseId,
      call: 'activate',
      errorCode,
      machineFingerprint: device.machine_fingerprint,
      product: device.product_slug,
      address,
    });
  }

  /** Repeating the call for the same device returns the existing activation: no seat, no event. */
  async function activate(
    device: Device,
    { limit, file, isSeen }: Way,
    call: Call,
    onFound: OnFound = () => {},
  ) {
    const found = await lookUp(device, onFound);
    const { license, activation, key, isNew } =
      (await unchanged(found)) ??
      (await activateNew(found.license, device, isSeen, found.activation ? UNLIMITED : limit, call));
    if (isSeen)
      needs.sightings.note({ activationId: activation.id, lastSeenAt: activation.lastSeenAt }, clock.now());
    const fingerprint = device.machine_fingerprint;
    const { text, expiresAt } = needs.files.issueUntil({ license, fingerprint, key, ...file });
    const reply = {
      license: needs.files.present(license, fingerprint),
      activation: toActivationObject(activation),
      license_file: text,
    };
    return { reply, isNew, fileExpiresAt: toTimestamp(expiresAt) };
  }

  return {
    async activate(request: RequestOf<typeof activationContract.activate>, call: Call) {
      const found: { license?: License } = {};
      const file = { ttlDays: needs.fileTtlDays, encrypt: request.encrypt };
      try {
        const way = { limit: needs.limit, file, isSeen: true };
        const { reply } = await activate(request, way, call, (license) => (found.license = license));
        return reply;
      } catch (error) {
        if (found.license) noteDenial(found.license.id, request, error, call);
        throw error;
      }
    },

    /** Activates an offline device from its activation request. */
    async activateOffline(request: RequestOf<typeof activationAdminContract.activateOffline>, call: Call) {
      const device = deviceOf(readMachineRequest(request.request));
      const file = { ttlDays: request.ttl_days ?? null, encrypt: request.encrypt };
      const way = { limit: UNLIMITED, file, isSeen: false };
      const { reply, isNew, fileExpiresAt } = await activate(device, way, call);
      return { ...reply, file_expires_at: fileExpiresAt, already_active: !isNew };
    },

    async listDevices(reference: LicenseReference, { cursor, limit }: DevicePage) {
      const license = requireLicense(await licenses.find(reference));
      // A device that has just called is the one that people ask about.
      await needs.sightings.flush();
      const devices = await activations.list(license.id, idFromCursor(cursor), limit);
      return toPage(devices, limit, toDeviceObject);
    },

    release: (reference: LicenseReference, fingerprint: string, call: Call) =>
      transaction(async () => {
        const license = await mustFindForChange(reference);
        const live = await activations.findLive(license.id, fingerprint);
        if (!live) throw deviceNotFound();
        // If the clock was set back, the release must still not precede the activation.
        const releasedAt = Math.max(clock.now(), live.activatedAt);
        await activations.release(live.id, releasedAt);
        const device = toDeviceObject({ ...live, releasedAt });
        await audit.record(call, 'device.released', `license:${license.id}`, toDeviceObject(live), device);
        return { device };
      }),
  };
}

export type ActivationService = ReturnType<typeof createActivationService>;
