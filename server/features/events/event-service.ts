// The outbox: an event and its deliveries are written in the transaction of the change that caused them.
import { afterCommit } from '#server/database/current-transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { License } from '#server/rules/license.ts';
import { toLicenseSummary } from '#server/rules/license-presenter.ts';
import type { EventName } from './event-contract.ts';
import type { EventStore, NoticeMark } from './event-store.ts';

export interface LicenseEvent {
  name: EventName;
  license: License;
  /** The affected device, or else the newest active one. */
  machineFingerprint?: string;
  /** Additional fields in the body (contract, section 6). */
  extra?: Record<string, unknown>;
}

/** Call both inside the transaction of the change. */
export interface Events {
  emit(event: LicenseEvent): Promise<void>;
  /** Emits those that are not known for the present term of their license: each is sent once. @returns their number */
  emitNotices(notices: readonly LicenseEvent[]): Promise<number>;
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

  function rowOf<Term extends number | null>(
    { name, license, machineFingerprint, extra }: LicenseEvent,
    term: Term,
  ) {
    const now = clock.now();
    const body = JSON.stringify({
      event: name,
      timestamp: toTimestamp(now),
      ...toLicenseSummary(license, machineFingerprint),
      ...extra,
    });
    return { name, licenseId: license.id, term, body, createdAt: now };
  }

  return {
    emit: (event) => insertLater(rowOf(event, null)),
    async emitNotices(notices) {
      const sent = await events.sentNotices(notices.map(({ license }) => license.id));
      const known = new Set(sent.map(markOf));
      const rows = notices
        .map((notice) => rowOf(notice, notice.license.term))
        .filter((row) => !known.has(markOf(row)));
      if (rows.length > 0) await queue(await events.insertAll(rows));
      return rows.length;
    },
  };
}

const markOf = ({ licenseId, name, term }: NoticeMark): string => `${licenseId} ${term} ${name}`;
