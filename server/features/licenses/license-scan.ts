// Sends notices that a license is expiring, in grace or expired: each once per term, and only the newest after
// downtime.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Events, LicenseEvent } from '#server/features/events/event-service.ts';
import type { Clock } from '#server/platform/clock.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { dueNotice, type LicenseNotice, nextNoticeAt } from '#server/rules/license-lifecycle.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from './license-store.ts';
import type { NoticeClock } from './notice-clock.ts';
import { recoverNotices } from './notice-recovery.ts';

/** Small enough that a batch never delays an activation for long. */
const BATCH = 100;

interface Needs {
  licenses: Pick<LicenseStore, 'findNoticeDue' | 'listExpiringBetween' | 'update' | 'setNoticesDue'>;
  noticeClock: NoticeClock;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  /** Whether the clock can be trusted for sending notices. */
  isTrusted(now: number): boolean;
  /** Checked between batches; true ends the scan early, and the next one continues. */
  isCancelled(): boolean;
}

export interface ScanResult {
  /** Licenses that were due. */
  looked: number;
  /** Events written. */
  emitted: number;
  /** The scan stopped because the clock cannot be trusted. */
  held?: true;
}

function extraFields(notice: LicenseNotice, license: License, now: number): Record<string, unknown> {
  if (notice === 'license.expiring') return { days_left: Math.floor((license.expiresAt - now) / DAY_MS) };
  return notice === 'license.in_grace' ? { grace_ends_at: toTimestamp(license.graceEndsAt) } : {};
}

/** Runs until no license is due. Each batch is one transaction, so a crash neither loses nor repeats a notice. */
export async function scanLicenses({
  licenses,
  noticeClock,
  events,
  transaction,
  clock,
  isTrusted,
  isCancelled,
}: Needs): Promise<ScanResult> {
  const result: ScanResult = { looked: 0, emitted: 0 };
  const startedAt = clock.now();
  if (!isTrusted(startedAt)) return { ...result, held: true };
  await recoverNotices({ licenses, noticeClock, transaction, isCancelled }, startedAt);

  function noticesOf(license: License, now: number): LicenseEvent[] {
    const name = dueNotice(license, now);
    return name === null ? [] : [{ name, license, extra: extraFields(name, license, now) }];
  }

  /** @returns how many licenses were due, and how many events were written for them */
  const scanBatch = (now: number) =>
    transaction(async () => {
      const due = await licenses.findNoticeDue(now, BATCH);
      if (due.length === 0) return { looked: 0, emitted: 0 };
      const emitted = await events.emitNotices(due.flatMap((license) => noticesOf(license, now)));
      await licenses.setNoticesDue(
        due.map((license) => ({ id: license.id, at: nextNoticeAt(license, now) })),
      );
      return { looked: due.length, emitted };
    });

  for (;;) {
    if (isCancelled()) return result;
    const now = clock.now();
    // A sent notice cannot be revoked.
    if (!isTrusted(now)) return { ...result, held: true };
    const { looked, emitted } = await scanBatch(now);
    result.looked += looked;
    result.emitted += emitted;
    if (looked < BATCH) return result;
  }
}
