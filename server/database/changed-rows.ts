// Tells which rows a commit changes, by any statement, so that cached answers can be dropped in time.
import type { Sequelize } from 'sequelize';
import { runCompiled } from './compiled-statements.ts';
import { sqliteConnection } from './sequelize-internals.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { onWriterOpened, WRITE_LANE } from './sqlite-lanes.ts';

export interface WatchedTable {
  table: string;
  /** The column whose values are reported; null if a change of any row concerns everything. */
  key: string | null;
  /** Changes of other columns are not reported. */
  columns: readonly string[];
  /** Whether new rows are reported as well. Removed ones always are. */
  inserts: boolean;
}

/** The reported keys, or `all`. */
export type ChangedKeys = readonly number[] | 'all';

export interface CommitListener {
  /** Called before a commit that changes these rows. */
  beforeCommit(keys: ChangedKeys): void;
  /** Called after that commit, or after it has failed, before its outcome is known elsewhere. */
  afterCommit(keys: ChangedKeys): void;
}

interface Watch {
  tables: readonly WatchedTable[];
  listener: CommitListener;
}

const ALL = 0;
const TAKE = 'DELETE FROM temp.changed_rows RETURNING watch, key';

const watches = new WeakMap<Sequelize, Watch[]>();

/** Temporary triggers belong to the connection: they see each of its statements, and leave no trace in the file. */
function triggersOf(watch: number, { table, key, columns, inserts }: WatchedTable): string[] {
  const note = (row: 'OLD' | 'NEW') =>
    `INSERT INTO changed_rows VALUES (${watch}, ${key === null ? ALL : `${row}.${key}`});`;
  const trigger = (name: string, event: string, notes: string) =>
    `CREATE TEMP TRIGGER IF NOT EXISTS note_${watch}_${table}_${name} AFTER ${event} ON main.${table} BEGIN ${notes} END`;
  return [
    trigger('update', `UPDATE OF ${columns.join(', ')}`, note('OLD') + note('NEW')),
    trigger('delete', 'DELETE', note('OLD')),
    ...(inserts ? [trigger('insert', 'INSERT', note('NEW'))] : []),
  ];
}

/** @param watch its number among those of the database */
function prepare(connection: SqliteConnection, { tables, listener }: Watch, watch: number): Promise<void> {
  const statements = [
    'CREATE TEMP TABLE IF NOT EXISTS changed_rows (watch INTEGER, key INTEGER)',
    ...tables.flatMap((table) => triggersOf(watch, table)),
  ];
  return new Promise((resolve, reject) => {
    connection.exec(statements.join('; '), (error) => {
      // What an earlier connection wrote last is unknown.
      listener.beforeCommit('all');
      listener.afterCommit('all');
      if (error) reject(error);
      else resolve();
    });
  });
}

/**
 * Reports the changes of every transaction of this process from now on. Call it after the migrations.
 * @returns false on PostgreSQL, where other servers commit without notice
 */
export async function watchRows(
  sequelize: Sequelize,
  tables: readonly WatchedTable[],
  listener: CommitListener,
): Promise<boolean> {
  if (sequelize.getDialect() !== 'sqlite') return false;
  const watch: Watch = { tables, listener };
  const all = watches.get(sequelize) ?? [];
  const number = all.push(watch) - 1;
  if (number === 0) {
    watches.set(sequelize, all);
    onWriterOpened(sequelize, async (connection) => {
      for (const [index, each] of all.entries()) await prepare(connection, each, index);
    });
  }
  await prepare(await sqliteConnection(sequelize, WRITE_LANE), watch, number);
  return true;
}

/** Runs `commit` on the writer's connection, and reports what it changes around it. */
export async function committing(
  sequelize: Sequelize,
  connection: SqliteConnection,
  commit: () => Promise<void>,
): Promise<void> {
  const all = watches.get(sequelize);
  if (!all) return commit();
  const rows = await runCompiled<{ watch: number; key: number }>(connection, TAKE);
  if (rows.length === 0) return commit();
  const changes = [...Map.groupBy(rows, ({ watch }) => watch)].map(([number, changed]) => ({
    listener: (all[number] as Watch).listener,
    keys: changed.some(({ key }) => key === ALL) ? ('all' as const) : changed.map(({ key }) => key),
  }));
  for (const { listener, keys } of changes) listener.beforeCommit(keys);
  try {
    await commit();
  } finally {
    for (const { listener, keys } of changes) listener.afterCommit(keys);
  }
}
