// The outbox: an event and its deliveries are written in the transaction of the change that caused them.
import { afterCommit } from '#server/database/current-transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { License } from '#server/features/licenses/license-store.ts';
import { toLicenseSummary } from '#server/rules/license-presenter.ts';
import type { EventName } from './event-contract.ts';
import type { EventStore } from './event-store.ts';

export interface LicenseEvent {
  name: EventName;
  license: License;
  /** The affected device, or else the newest active one. */
  machineFingerprint?: string;
  /** Additional fields in the body (contract, section 6). */
  extra?: Record<string, unknown>;
  /** Set for a notice, which is sent once per license and term. */
  term?: number;
}

export interface Events {
  /** Call it inside the transaction of the change. */
  emit(event: LicenseEvent): Promise<void>;
  hasNotice(licenseId: number, name: EventName, term: number): Promise<boolean>;
}

interface Needs {
  events: EventStore;
  /** Writes one delivery for each webhook whose scope covers the event. @returns their number */
  queueDeliveries(eventId: number, name: EventName, now: number): Promise<number>;
  clock: Clock;
  /** Called after deliveries have been committed. */
  onQueued(): void;
}

export function createEventService({ events, queueDeliveries, clock, onQueued }: Needs): Events {
  return {
    async emit({ name, license, machineFingerprint, extra, term }) {
      const now = clock.now();
      const body = JSON.stringify({
        event: name,
        timestamp: toTimestamp(now),
        ...toLicenseSummary(license, machineFingerprint),
        ...extra,
      });
      const eventId = await events.insert({
        name,
        licenseId: license.id,
        term: term ?? null,
        body,
        createdAt: now,
      });
      if ((await queueDeliveries(eventId, name, now)) > 0) afterCommit(onQueued);
    },
    hasNotice: (licenseId, name, term) => events.hasNotice(licenseId, name, term),
  };
}
