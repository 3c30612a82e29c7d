// Locks tables against changes while other transactions, which have begun, still need some of them.
import { setTimeout as delay } from 'node:timers/promises';
import { driverCodeOf } from '#server/platform/driver-error.ts';
import type { PostgresConnection } from '../postgres-connection.ts';
import { MoveError } from './move-error.ts';

const AGAIN_MS = 20;
/** By then, changes that had begun have usually ended. */
const CHANGES_END_MS = 5000;
/** PostgreSQL ends an autovacuum only when a lock has waited for it for longer than `deadlock_timeout`, by default 1 s. */
const WAIT_MS = 5000;

export const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';

function isInTheWay(error: unknown): boolean {
  const code = driverCodeOf(error);
  return code === LOCK_NOT_AVAILABLE || code === DEADLOCK_DETECTED;
}

/**
 * Locks all tables or none: a transaction that holds some and waits for others can deadlock with a change.
 * @param connection in a transaction, at whose end the locks end
 * @throws MoveError if another transaction keeps a table locked for longer than `withinMs`
 */
export async function lockAllAtOnce(
  connection: PostgresConnection,
  tables: readonly { name: string }[],
  withinMs: number,
): Promise<void> {
  const lock = `LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN SHARE MODE`;
  const startedAt = performance.now();
  await connection.query(`SET LOCAL lock_timeout = ${WAIT_MS}`);
  await connection.query('SAVEPOINT unlocked');
  for (;;) {
    const waitedMs = performance.now() - startedAt;
    try {
      await connection.query(waitedMs < CHANGES_END_MS ? `${lock} NOWAIT` : lock);
      return;
    } catch (cause) {
      if (!isInTheWay(cause)) throw cause;
      if (waitedMs > withinMs)
        throw new MoveError(
          `another transaction has kept a table locked for ${withinMs / 1000} s; nothing has changed, try again`,
          { cause },
        );
      await connection.query('ROLLBACK TO unlocked');
      await delay(AGAIN_MS);
    }
  }
}
