// Runs statements with numbered values on either database, inside the current transaction if there is one.
import type { Sequelize } from 'sequelize';
import { changeCompiled, changeOnce, runCompiled, runOnce } from './compiled-statements.ts';
import { currentTransaction, openTransaction, writingTransaction } from './current-transaction.ts';
import { isConnectionLost } from '#server/platform/database-fault.ts';
import { listSource } from './list-source.ts';
import { queryPostgres, READS } from './postgres-statements.ts';
import { connectionOf, sqliteConnection } from './sequelize-internals.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { LOOKUP_LANE, READ_LANE } from './sqlite-lanes.ts';

/**
 * @param isHot for one of a few fixed texts: kept compiled on SQLite and, outside a transaction, run on the look-up
 *   connection, where long statements never block it. Decisions rely on these: a replica never answers them
 * @param isShort whether a connection to PostgreSQL that takes long to answer is lost
 */
type Run<Result> = (
  text: string,
  values: readonly unknown[],
  isHot: boolean,
  isShort?: boolean,
) => Promise<Result>;

export interface StatementRunner {
  /** The character before a value's number in the text. */
  placeholder: '?' | '$';
  rows<Row extends object>(...statement: Parameters<Run<Row[]>>): Promise<Row[]>;
  /** A hot statement that takes a short time. */
  lookUp<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** For statements without rows. @returns the number of changed rows */
  changes: Run<number>;
  /** Binds a list as one value, for the dialect's `isIn`. */
  list(values: readonly unknown[]): unknown;
}

/** After a failed statement, the change is run again. As on PostgreSQL, nothing follows until then. */
async function unlessFailed<Result>(work: () => Promise<Result>): Promise<Result> {
  const current = openTransaction.getStore();
  if (current?.failure) throw current.failure.error;
  try {
    return await work();
  } catch (error) {
    if (current?.failure === null) current.failure = { error };
    throw error;
  }
}

/** Of hot statements: PostgreSQL keeps their plans under these, for each connection. */
const planNames = new Map<string, string>();

function nameOf(text: string): string {
  const name = planNames.get(text) ?? `statement_${planNames.size + 1}`;
  planNames.set(text, name);
  return name;
}

function onSqlite(sequelize: Sequelize): StatementRunner {
  /** In a transaction, starts without a turn of the event loop. */
  function onConnection<Result>(
    isHot: boolean,
    mayWrite: boolean,
    work: (connection: SqliteConnection) => Promise<Result>,
  ): Promise<Result> {
    const transaction = mayWrite ? writingTransaction() : currentTransaction();
    if (transaction) return unlessFailed(() => work(connectionOf(transaction)));
    return sqliteConnection(sequelize, isHot ? LOOKUP_LANE : READ_LANE).then(work);
  }
  function rows<Row extends object>(
    text: string,
    values: readonly unknown[],
    isHot: boolean,
  ): Promise<Row[]> {
    const run = isHot ? runCompiled<Row> : runOnce<Row>;
    return onConnection(isHot, !READS.test(text), (connection) => run(connection, text, values));
  }
  return {
    // SQLite treats `$1` as a name and numbers it by its first use; `?1` is the number itself.
    placeholder: '?',
    rows,
    lookUp: (text, values) => rows(text, values, true),
    changes(text, values, isHot) {
      const run = isHot ? changeCompiled : changeOnce;
      return onConnection(isHot, true, (connection) => run(connection, text, values));
    },
    list: (values) => JSON.stringify(values),
  };
}

/** What a replica refuses, because it writes, is then sent to the database itself. */
const LISTS = /^\s*(?:SELECT|WITH)\b/u;

/** @returns null if they have to be read from the database itself */
async function listRows(text: string, values: readonly unknown[]): Promise<object[] | null> {
  const source = listSource();
  if (!source || currentTransaction() || !LISTS.test(text)) return null;
  return source.rows({ text, values, name: undefined });
}

function onPostgres(sequelize: Sequelize): StatementRunner {
  const ask = (text: string, values: readonly unknown[], isHot: boolean, isShort = false) =>
    queryPostgres(sequelize, { text, values, name: isHot ? nameOf(text) : undefined }, isShort);
  async function rows<Row extends object>(...statement: Parameters<typeof ask>): Promise<Row[]> {
    try {
      return (await ask(...statement)).rows as Row[];
    } catch (error) {
      // Another statement may have been carried out before its connection was lost.
      if (!READS.test(statement[0]) || currentTransaction() || !isConnectionLost(error)) throw error;
      return (await ask(...statement)).rows as Row[];
    }
  }
  return {
    placeholder: '$',
    rows: async <Row extends object>(...[text, values, isHot, isShort]: Parameters<typeof ask>) =>
      ((isHot ? null : await listRows(text, values)) as Row[] | null) ??
      (await rows<Row>(text, values, isHot, isShort)),
    lookUp: (text, values) => rows(text, values, true, true),
    changes: async (...statement) => (await ask(...statement)).rowCount ?? 0,
    list: (values) => values,
  };
}

export function statementRunner(sequelize: Sequelize): StatementRunner {
  return sequelize.getDialect() === 'sqlite' ? onSqlite(sequelize) : onPostgres(sequelize);
}
