// Recomputes notices that were scheduled by a clock that has since been set back.
import type { RunTransaction } from '#server/database/transaction.ts';
import { dueNotice, EXPIRING_MS, type NoticeMoments, nextNoticeAt } from '#server/rules/license-lifecycle.ts';
import type { LicenseStore } from './license-store.ts';
import type { NoticeClock } from './notice-clock.ts';

/** Smaller steps back are corrections, or differences between servers on one database. */
const TOLERANCE_MS = 5 * 60_000;
/** How far the stored time may lag; each update is a disk write. */
const REMEMBER_EVERY_MS = 60_000;
const BATCH = 100;

interface Needs {
  licenses: Pick<LicenseStore, 'listExpiringBetween' | 'update'>;
  noticeClock: NoticeClock;
  transaction: RunTransaction;
  isCancelled(): boolean;
}

/** When to look at the license next, according to the corrected clock. */
function noticeDueAt(license: NoticeMoments, now: number): number | null {
  return dueNotice(license, now) === null ? nextNoticeAt(license, now) : now;
}

/** @returns false if interrupted */
async function reschedule(needs: Needs, now: number, seen: number): Promise<boolean> {
  const { licenses, transaction } = needs;
  let after = { expiresAt: 0, id: 0 };
  for (;;) {
    if (needs.isCancelled()) return false;
    const last = await transaction(async () => {
      const page = await licenses.listExpiringBetween(now, seen + EXPIRING_MS, after, BATCH);
      for (const license of page) {
        const due = noticeDueAt(license, now);
        if (license.noticeDueAt !== due) await licenses.update(license.id, { noticeDueAt: due });
      }
      return page.at(-1);
    });
    if (!last) return true;
    after = { expiresAt: last.expiresAt, id: last.id };
  }
}

/** Remembers the time. @returns false if the clock is behind an earlier scan's, so that notices have to be rescheduled */
export async function keepsPace(
  { noticeClock, transaction }: Pick<Needs, 'noticeClock' | 'transaction'>,
  now: number,
): Promise<boolean> {
  const seen = await noticeClock.read();
  const behindMs = seen === null ? -Infinity : seen - now;
  // Within the tolerance, the later time stays until it is worth another write.
  if (behindMs <= -REMEMBER_EVERY_MS) await transaction(() => noticeClock.write(now));
  return behindMs <= TOLERANCE_MS;
}

/**
 * Call it before each scan. If the clock is behind an earlier scan's, every license that such a scan may have processed
 * gets its next notice rescheduled. The scan then sends what is due and was not sent in this term. If interrupted, it
 * starts over.
 */
export async function recoverNotices(needs: Needs, now: number): Promise<void> {
  const { noticeClock, transaction } = needs;
  if (await keepsPace(needs, now)) return;
  const seen = await noticeClock.read();
  if (seen === null || !(await reschedule(needs, now, seen))) return;
  await transaction(() => noticeClock.write(now));
}
