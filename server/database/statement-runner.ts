// Runs statements with numbered values on either database, inside the current transaction if there is one.
import type { Sequelize } from 'sequelize';
import { changeCompiled, changeOnce, runCompiled, runOnce } from './compiled-statements.ts';
import { currentTransaction, openTransaction, writingTransaction } from './current-transaction.ts';
import { isConnectionLost } from './database-fault.ts';
import { numbered, VALUE_NAME } from './named-values.ts';
import { queryPostgres, READS } from './postgres-statements.ts';
import { connectionOf, sqliteConnection } from './sequelize-internals.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { LOOKUP_LANE, READ_LANE } from './sqlite-lanes.ts';

/**
 * @param isHot for one of a few fixed texts: kept compiled on SQLite and, outside a transaction, run on the look-up
 *   connection, where long statements never block it
 */
type Run<Result> = (text: string, values: readonly unknown[], isHot: boolean) => Promise<Result>;

export interface StatementRunner {
  /** The character before a value's number in the text. */
  placeholder: '?' | '$';
  rows<Row extends object>(...statement: Parameters<Run<Row[]>>): Promise<Row[]>;
  /** For statements without rows. @returns the number of changed rows */
  changes: Run<number>;
  /** Binds a list as one value, for the dialect's `isIn`. */
  list(values: readonly unknown[]): unknown;
  /**
   * Runs one SELECT for several sets of values in a single statement.
   * @param select the expressions after SELECT, with values named `$name`
   * @returns the rows, each with the position of its set as `slot`
   */
  batch<Row extends object>(select: string): (sets: readonly BatchValues[]) => Promise<Row[]>;
}

type BatchValues = Readonly<Record<string, string | null>>;

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
  const runner: StatementRunner = {
    // SQLite treats `$1` as a name and numbers it by its first use; `?1` is the number itself.
    placeholder: '?',
    rows: <Row extends object>(text: string, values: readonly unknown[], isHot: boolean) => {
      const run = isHot ? runCompiled<Row> : runOnce<Row>;
      return onConnection(isHot, !READS.test(text), (connection) => run(connection, text, values));
    },
    changes(text, values, isHot) {
      const run = isHot ? changeCompiled : changeOnce;
      return onConnection(isHot, true, (connection) => run(connection, text, values));
    },
    list: (values) => JSON.stringify(values),
    batch<Row extends object>(select: string) {
      const { names } = numbered(select, '?');
      /** Keyed by batch size. Sizes are powers of two, so that only a few texts have to be compiled. */
      const texts = new Map<number, string>();
      const textFor = (size: number): string => {
        const selects = Array.from({ length: size }, (_, slot) => {
          const { text } = numbered(select, '?', slot * names.length);
          return `SELECT ${slot} AS "slot", ${text}`;
        });
        return selects.join(' UNION ALL ');
      };
      return (sets) => {
        const size = 2 ** Math.ceil(Math.log2(sets.length));
        const text = texts.get(size) ?? textFor(size);
        texts.set(size, text);
        const bound = Array.from({ length: size }, (_, slot) =>
          names.map((name) => sets[slot]?.[name] ?? null),
        );
        return runner.rows<Row>(text, bound.flat(), true);
      };
    },
  };
  return runner;
}

function onPostgres(sequelize: Sequelize): StatementRunner {
  const ask = (text: string, values: readonly unknown[], isHot: boolean) =>
    queryPostgres(sequelize, { text, values, name: isHot ? nameOf(text) : undefined });
  const runner: StatementRunner = {
    placeholder: '$',
    async rows<Row extends object>(text: string, values: readonly unknown[], isHot: boolean) {
      try {
        return (await ask(text, values, isHot)).rows as Row[];
      } catch (error) {
        // Another statement may have been carried out before its connection was lost.
        if (!READS.test(text) || currentTransaction() || !isConnectionLost(error)) throw error;
        return (await ask(text, values, isHot)).rows as Row[];
      }
    },
    changes: async (text, values, isHot) => (await ask(text, values, isHot)).rowCount ?? 0,
    list: (values) => values,
    batch<Row extends object>(select: string) {
      const { names } = numbered(select, '$');
      const one = select.replaceAll(VALUE_NAME, (_, name: string) => `keys.k${names.indexOf(name)}`);
      const lists = names.map((_, index) => `CAST($${index + 1} AS TEXT[])`).join(', ');
      const columns = names.map((_, index) => `k${index}`).join(', ');
      // One text for any number of sets, so that PostgreSQL plans it once per connection.
      const text = `
        SELECT CAST(keys.number AS INTEGER) - 1 AS "slot", found.*
        FROM unnest(${lists}) WITH ORDINALITY AS keys (${columns}, number)
        CROSS JOIN LATERAL (SELECT ${one}) AS found`;
      return (sets) => {
        const bound = names.map((name) => sets.map((set) => set[name] ?? null));
        return runner.rows<Row>(text, bound, true);
      };
    },
  };
  return runner;
}

export function statementRunner(sequelize: Sequelize): StatementRunner {
  return sequelize.getDialect() === 'sqlite' ? onSqlite(sequelize) : onPostgres(sequelize);
}
