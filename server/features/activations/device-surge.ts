// Detects licenses that gain unusually many devices: their key may have been published.
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { ActivationStore } from './activation-store.ts';

const MINUTES = 60;
const WINDOW_MS = MINUTES * 60_000;
/** More new devices than this within the window raise the alert. */
const MAX_NEW_DEVICES = 100;
/** An alert is cleared only below this number, so that it does not flap. */
const CALM_NEW_DEVICES = 50;
/** Devices are counted this often, not on each activation. */
const CHECK_MS = 2000;
/** How often a license with an alert is recounted while it gains no devices. */
const RECHECK_MS = 60_000;

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  activations: Pick<ActivationStore, 'countNewest' | 'findSurges'>;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  logger: Logger;
  clock: Clock;
}

interface WatchedLicense {
  /** The alert's subject; null without an alert. */
  subject: string | null;
  /** Epoch milliseconds. */
  checkAt: number;
}

export interface DeviceSurgeWatch {
  /** @param license its state after the activation */
  onActivated(license: License): void;
  /** Finds surges that began before this server started, in the background. */
  start(): void;
  close(): void;
}

/** Shortens the key: more people see alerts than licenses. */
function subjectOf({ licenseKey, holder }: License): string {
  const groups = licenseKey.split('-');
  return `${groups.at(0)}-…-${groups.at(-1)} (${holder})`;
}

export function createDeviceSurgeWatch(needs: Needs): DeviceSurgeWatch {
  const { licenses, activations, alerts, logger, clock } = needs;
  const watched = new Map<number, WatchedLicense>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function raise(licenseId: number, watch: WatchedLicense, count: number): Promise<void> {
    const license = await licenses.find({ id: licenseId });
    if (!license || isClosed) return;
    const isNew = watch.subject === null;
    watch.subject ??= subjectOf(license);
    alerts.raise('device_surge', {
      subject: watch.subject,
      params: { count, minutes: MINUTES, license_id: licenseId },
    });
    if (isNew)
      logger.warn({ license_id: licenseId, count, minutes: MINUTES }, 'many new devices of a license');
  }

  async function check(licenseId: number, watch: WatchedLicense, now: number): Promise<void> {
    watch.checkAt = now + RECHECK_MS;
    const count = await activations.countNewest(licenseId, now - WINDOW_MS);
    if (count > (watch.subject === null ? MAX_NEW_DEVICES : CALM_NEW_DEVICES))
      return raise(licenseId, watch, count);
    if (watch.subject !== null) alerts.clear('device_surge', watch.subject);
    watched.delete(licenseId);
  }

  async function checkAll(): Promise<void> {
    const now = clock.now();
    for (const [licenseId, watch] of watched) if (watch.checkAt <= now) await check(licenseId, watch, now);
  }

  async function findAll(): Promise<void> {
    for (const { licenseId, count } of await activations.findSurges(clock.now() - WINDOW_MS, MAX_NEW_DEVICES))
      await raise(licenseId, watchLicense(licenseId), count);
  }

  /** Activation must not fail because counting does. */
  async function attempt(counting: () => Promise<void>): Promise<void> {
    try {
      await counting();
    } catch (error) {
      if (!isClosed) logger.warn({ err: error as Error }, 'cannot count new devices');
    }
    timer = undefined;
    schedule();
  }

  function schedule(): void {
    if (isClosed || timer || watched.size === 0) return;
    timer = setTimeout(() => void attempt(checkAll), CHECK_MS).unref();
  }

  function watchLicense(licenseId: number): WatchedLicense {
    const known = watched.get(licenseId) ?? { subject: null, checkAt: 0 };
    known.checkAt = 0;
    watched.set(licenseId, known);
    return known;
  }

  return {
    onActivated({ id, activationCount }) {
      if (activationCount <= MAX_NEW_DEVICES) return;
      watchLicense(id);
      schedule();
    },
    start: () => void attempt(findAll),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
