// Makes an exact number of licenses due for a notice.
import { EXPIRING_MS } from '#server/rules/license-lifecycle.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

/** No other license becomes due within this time, so that the count is still exact when a scan runs. */
const QUIET_MS = DAY_MS / 2;

/** Gives licenses that are due, or soon will be, a new term, as if they had been renewed for a year. */
async function renewAllDueUntil(connection: SqliteConnection, until: number): Promise<void> {
  await connection.run(
    `UPDATE licenses SET term = term + 1, expires_at = ?1 + 365 * ?2, notice_due_at = ?1 + 365 * ?2 - ?3 + 1
     WHERE notice_due_at <= ?1`,
    [until, DAY_MS, EXPIRING_MS],
  );
}

/**
 * Makes `count` evenly spread licenses start to expire at `dueAt`.
 * @returns their number; lower if there are not enough suitable licenses
 */
export async function makeNoticesDue(
  connection: SqliteConnection,
  count: number,
  dueAt: number,
): Promise<number> {
  await renewAllDueUntil(connection, dueAt + QUIET_MS);
  const changed = await connection.all<{ id: number }>(
    `UPDATE licenses SET expires_at = ?1 + ?2 - 1, notice_due_at = ?1, term = term + 1
     WHERE id IN (
       SELECT id FROM licenses WHERE revoked_at IS NULL AND issued_at < ?1 AND expires_at > ?1 + ?2
       ORDER BY (id * 7919) % 1000003, id LIMIT ?3
     ) RETURNING id`,
    [dueAt, EXPIRING_MS, count],
  );
  return changed.length;
}
