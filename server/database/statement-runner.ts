// Runs statements with numbered values on either database, inside the current transaction if there is one.
import { QueryTypes, type Sequelize } from 'sequelize';
import { changeCompiled, changeOnce, runCompiled, runOnce } from './compiled-statements.ts';
import { currentTransaction } from './current-transaction.ts';
import { connectionOf, sqliteConnection } from './sequelize-internals.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { LOOKUP_LANE, READ_LANE } from './sqlite-lanes.ts';

/**
 * @param isHot the text is one of a few: kept compiled on SQLite, and outside a transaction run on the connection for look-ups,
 *   where no long statement is in the way
 */
type Run<Result> = (text: string, values: readonly unknown[], isHot: boolean) => Promise<Result>;

export interface StatementRunner {
  /** What stands before a value's number in the text. */
  placeholder: '?' | '$';
  rows<Row extends object>(...statement: Parameters<Run<Row[]>>): Promise<Row[]>;
  /** Of a statement that returns no rows. @returns how many it changed */
  changes: Run<number>;
  /** A list of values as one value, for `isIn` of the dialect. */
  list(values: readonly unknown[]): unknown;
}

function onSqlite(sequelize: Sequelize): StatementRunner {
  /** In a transaction without a turn of the event loop ahead of it. */
  function onConnection<Result>(
    isHot: boolean,
    work: (connection: SqliteConnection) => Promise<Result>,
  ): Promise<Result> {
    const transaction = currentTransaction();
    if (transaction) return work(connectionOf(transaction));
    return sqliteConnection(sequelize, isHot ? LOOKUP_LANE : READ_LANE).then(work);
  }
  return {
    // To SQLite `$1` is a name, numbered by where it first stands; `?1` is the number itself.
    placeholder: '?',
    rows: <Row extends object>(text: string, values: readonly unknown[], isHot: boolean) => {
      const run = isHot ? runCompiled<Row> : runOnce<Row>;
      return onConnection(isHot, (connection) => run(connection, text, values));
    },
    changes(text, values, isHot) {
      const run = isHot ? changeCompiled : changeOnce;
      return onConnection(isHot, (connection) => run(connection, text, values));
    },
    list: (values) => JSON.stringify(values),
  };
}

function onPostgres(sequelize: Sequelize): StatementRunner {
  return {
    placeholder: '$',
    rows: (text, values) => sequelize.query(text, { bind: [...values], type: QueryTypes.SELECT }),
    changes: (text, values) => sequelize.query(text, { bind: [...values], type: QueryTypes.BULKUPDATE }),
    list: (values) => values,
  };
}

export function statementRunner(sequelize: Sequelize): StatementRunner {
  return sequelize.getDialect() === 'sqlite' ? onSqlite(sequelize) : onPostgres(sequelize);
}
