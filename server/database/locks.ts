// Locks of rows and tables on PostgreSQL.
import { openTransaction } from './current-transaction.ts';
import { numbered } from './named-values.ts';
import { collector, inGroup } from './shared-statements.ts';
import type { SqlDialect } from './sql-dialect.ts';
import type { StatementRunner } from './statement-runner.ts';

type Value = string | number | readonly number[];
type Strength = 'UPDATE' | 'NO KEY UPDATE' | 'SHARE';

/**
 * Locks rows until the transaction ends, so that a decision based on them is still true when it is written. SQLite has
 * one writer and needs no lock. Run it before a SELECT with subqueries: after a wait, PostgreSQL re-reads only the
 * locked row, while subqueries next to `FOR UPDATE` still see the earlier state.
 * @param where the columns' values; all rows if empty. Rows of several IDs are locked in that order, so that
 *   transactions which do the same never wait for each other in a circle
 * @param strength `SHARE`: several transactions can take it; changes to the row wait. `NO KEY UPDATE`: new rows may
 *   still refer to it
 * @returns false if no row is locked: there is none, or the one that it waited for no longer matches. Always true on SQLite
 * @throws RowLockedError in a group that may not wait
 */
export type LockRows = (
  table: string,
  where?: Readonly<Record<string, Value>>,
  strength?: Strength,
) => Promise<boolean>;

/** Another transaction has locked the row, or there is none. The change has to run in a transaction that may wait. */
export class RowLockedError extends Error {
  override readonly name = 'RowLockedError';
}

export function rowLocks({ rows, placeholder }: StatementRunner, { name, isIn }: SqlDialect): LockRows {
  if (name === 'sqlite') return async () => true;
  /** One for each kind of lock that groups take, by its text. */
  const shared = new Map<string, (values: readonly (string | number)[]) => Promise<(true | Error)[]>>();

  /** Changes of a group hold locks of several rows. They never wait for one more, so no circle of waits comes about. */
  function lockFree(table: string, column: string, strength: Strength) {
    const text = `SELECT ${column} AS "value" FROM ${table} WHERE ${column} = ANY($1) FOR ${strength} SKIP LOCKED`;
    const lockAll = async (values: readonly (string | number)[]): Promise<(true | Error)[]> => {
      const locked = await rows<{ value: string | number }>(text, [values], true);
      const found = new Set(locked.map(({ value }) => value));
      return values.map((value) => found.has(value) || new RowLockedError(`${table} row is locked`));
    };
    const known = shared.get(text) ?? lockAll;
    shared.set(text, known);
    return known;
  }

  return async (table, where = {}, strength = 'UPDATE') => {
    const columns = Object.entries(where);
    const [first] = columns;
    if (openTransaction.getStore()?.group?.mayWait === false) {
      const [column, value] = columns.length === 1 && first ? first : [];
      if (column === undefined || value === undefined || typeof value === 'object')
        throw new RowLockedError(`${table} rows are not locked together`);
      const lockAll = lockFree(table, column, strength);
      const lock = inGroup(lockAll, () => collector(lockAll, { isKept: true }));
      return lock ? lock(value) : false;
    }
    const conditions = columns.map(([column, value]) =>
      Array.isArray(value) ? isIn(column, column) : `${column} = $${column}`,
    );
    const selected = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const order = conditions.length === 0 || Array.isArray(where['id']) ? 'ORDER BY id' : '';
    const text = `SELECT 1 FROM ${table} ${selected} ${order} FOR ${strength}`;
    const { text: asked, names } = numbered(text, placeholder);
    const locked = await rows(
      asked,
      names.map((column) => where[column]),
      true,
    );
    return locked.length > 0;
  };
}

/**
 * Keeps other transactions from changing the table, or from locking it in the same way, until the transaction ends. They may
 * still read it. SQLite has one writer and needs no lock.
 * @throws RowLockedError in a group that may not wait
 */
export type LockTable = (table: string) => Promise<void>;

export function tableLocks({ changes }: StatementRunner, { name }: SqlDialect): LockTable {
  if (name === 'sqlite') return async () => {};
  return async (table) => {
    if (openTransaction.getStore()?.group?.mayWait === false)
      throw new RowLockedError(`${table} is not locked together`);
    await changes(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`, [], true);
  };
}
