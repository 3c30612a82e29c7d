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
  /** Writes, for each event, one delivery for each webhook whose scope covers it. @returns their number */
  queueDeliveries(eventIds: readonly number[]): Promise<number>;
  clock: Clock;
  /** Called after deliveries have been committed. */
  onQueued(): void;
}

export function createEventService({ events, queueDeliveries, clock, onQueued }: Needs): Events {
  const queue = async (eventIds: readonly number[]): Promise<void> => {
    if ((await queueDeliveries(eventIds)) > 0) afterCommit(onQueued);
  };
  const insertLater = events.insertWith(queue);
  return {
    async emit({ name, license, machineFingerprint, extra, term }) {
      const now = clock.now();
      const body = JSON.stringify({
        event: name,
        timestamp: toTimestamp(now),
        ...toLicenseSummary(license, machineFingerprint),
        ...extra,
      });
      const event = { name, licenseId: license.id, term: term ?? null, body, createdAt: now };
      // A notice is written at once: if it exists already, that must fail this change alone.
      if (term === undefined) await insertLater(event);
      else await queue([await events.insert(event)]);
    },
    hasNotice: (licenseId, name, term) => events.hasNotice(licenseId, name, term),
  };
}
