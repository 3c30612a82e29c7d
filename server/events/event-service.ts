// The outbox: an event and its deliveries are written in the transaction of the change that caused them.
import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/fields.ts';
import type { License } from '../licenses/license-store.ts';
import type { EventStore } from './event-store.ts';

export type EventName =
  | 'license.activated'
  | 'license.renewed'
  | 'license.upgraded'
  | 'license.revoked'
  | 'license.expiring'
  | 'license.in_grace'
  | 'license.expired'
  | 'certificate.generated'
  | 'certificate.revoked';

export interface LicenseEvent {
  name: EventName;
  license: License;
  /** The device that the event is about, else the newest active one. */
  machineFingerprint?: string;
  /** Fields that this event adds to the body (contract, section 6). */
  extra?: Record<string, unknown>;
  /** Set for a notice, which a license gets once per term. */
  term?: number;
}

export interface Events {
  /** Must be called inside the transaction of the change. */
  emit(event: LicenseEvent): Promise<void>;
  hasNotice(licenseId: number, name: EventName, term: number): Promise<boolean>;
}

export function createEventService({ events, clock }: { events: EventStore; clock: Clock }): Events {
  return {
    async emit({ name, license, machineFingerprint, extra, term }) {
      const now = clock.now();
      const body = JSON.stringify({
        event: name,
        timestamp: toTimestamp(now),
        license_id: license.id,
        license_key: license.licenseKey,
        holder: license.holder,
        product: license.product,
        plan: license.plan,
        machine_fingerprint: machineFingerprint ?? license.newestFingerprint,
        issued_at: toTimestamp(license.issuedAt),
        expires_at: toTimestamp(license.expiresAt),
        ...extra,
      });
      const eventId = await events.insert({
        name,
        licenseId: license.id,
        term: term ?? null,
        body,
        createdAt: now,
      });
      await events.insertDeliveries(eventId, name, now);
    },
    hasNotice: (licenseId, name, term) => events.hasNotice(licenseId, name, term),
  };
}
