// Hand-written SQL: typed rows, named values (`$name`), inside the current transaction if there is one.
import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { batched, type Lookup, lookupOf } from './batched-lookup.ts';
import {
  type InsertAll,
  insertAllInto,
  insertInto,
  type InsertLater,
  insertLaterInto,
  type InsertRow,
} from './insert-row.ts';
import { currentTransaction, type OnInserted } from './current-transaction.ts';
import { inOrder, numbered, type Values } from './named-values.ts';
import { type SqlDialect, sqlDialect } from './sql-dialect.ts';
import { type LockRows, type LockTable, rowLocks, tableLocks } from './locks.ts';
import { collector, inGroup } from './shared-statements.ts';
import { statementRunner } from './statement-runner.ts';
import { updateOf, type UpdateRow } from './update-row.ts';

type RowModel<Row extends { id: number }> = ModelStatic<Model<Row, Optional<Row, 'id'>>>;

/** A hot statement with fixed text: on SQLite it is kept compiled and reads on the look-up connection. */
export interface Statement<Row extends object> {
  all(values?: Values): Promise<Row[]>;
  /** Returns null if no row matches. */
  first(values?: Values): Promise<Row | null>;
  /** For statements without rows. @returns the number of changed rows */
  run(values?: Values): Promise<number>;
}

interface StatementOptions {
  /** Whether it takes a short time: a connection to PostgreSQL that does not answer it is lost. */
  isShort?: boolean;
}

/** Lists are bound as one value, for `dialect.isIn`. */
export interface Sql {
  dialect: SqlDialect;
  select<Row extends object>(text: string, values?: Values): Promise<Row[]>;
  /** Returns null if no row matches. */
  selectFirst<Row extends object>(text: string, values?: Values): Promise<Row | null>;
  /** For statements without rows. @returns the number of changed rows */
  run(text: string, values?: Values): Promise<number>;
  /** Call it once per text, when creating a store. */
  statement<Row extends object>(text: string, options?: StatementOptions): Statement<Row>;
  /** For frequent look-ups: calls that arrive together share one statement, except in a transaction. */
  batched<Key, Facts extends object>(lookup: Lookup<Key>): (key: Key) => Promise<Facts | null>;
  /** The same for a statement without values that may find several rows. */
  batchedRead<Row extends object>(text: string): () => Promise<Row[]>;
  /** As `batched`, for the first reads of changes that share a commit. */
  batchedFirst<Key, Facts extends object>(lookup: Lookup<Key>): (key: Key) => Promise<Facts | null>;
  insert<Row extends { id: number }>(model: RowModel<Row>): InsertRow<Row>;
  /**
   * For rows that the change itself does not need. Changes that share a commit write them together.
   * @param onInserted receives the IDs of new rows, in the transaction that writes them
   */
  insertLater<Row extends { id: number }>(model: RowModel<Row>, onInserted?: OnInserted): InsertLater<Row>;
  update<Row extends { id: number }>(model: RowModel<Row>): UpdateRow<Row>;
  insertAll<Row extends { id: number }, Name extends keyof Row & string>(
    model: RowModel<Row>,
    returning: readonly Name[],
  ): InsertAll<Row, Name>;
  lock: LockRows;
  lockTable: LockTable;
}

function createSql(sequelize: Sequelize): Sql {
  const runner = statementRunner(sequelize);
  const dialect = sqlDialect(sequelize);

  /** @param run receives the numbered text and its values */
  function prepared<Result>(
    source: string,
    run: (text: string, values: unknown[]) => Promise<Result>,
  ): (values?: Values) => Promise<Result> {
    const { text, names } = numbered(source, runner.placeholder);
    return (values = {}) => run(text, inOrder(names, values, runner.list));
  }

  function select<Row extends object>(text: string, values?: Values): Promise<Row[]> {
    return prepared(text, (sql, bound) => runner.rows<Row>(sql, bound, false))(values);
  }

  function single<Key, Facts extends object>({ columns, from, values }: Lookup<Key>) {
    const all = prepared(`SELECT ${columns} FROM ${from}`, (sql, bound) =>
      runner.rows<Facts>(sql, bound, true),
    );
    return async (key: Key): Promise<Facts | null> => (await all(values(key)))[0] ?? null;
  }

  /** In the current transaction, whose group may share the statement. */
  function ownOrGroups<Key, Facts extends object>(lookup: Lookup<Key>): (key: Key) => Promise<Facts | null> {
    const own = single<Key, Facts>(lookup);
    const lookUp = lookupOf<Key, Facts>(runner, dialect.jsonLists, lookup);
    return (key) => (inGroup(lookUp, () => collector(lookUp)) ?? own)(key);
  }

  return {
    dialect,
    select,
    selectFirst: async <Row extends object>(text: string, values?: Values) =>
      (await select<Row>(text, values))[0] ?? null,
    run: (text, values) => prepared(text, (sql, bound) => runner.changes(sql, bound, false))(values),
    statement<Row extends object>(text: string, { isShort = false }: StatementOptions = {}): Statement<Row> {
      const all = prepared(text, (sql, bound) => runner.rows<Row>(sql, bound, true, isShort));
      return {
        all,
        first: async (values) => (await all(values))[0] ?? null,
        run: prepared(text, (sql, bound) => runner.changes(sql, bound, true, isShort)),
      };
    },
    batched<Key, Facts extends object>(lookup: Lookup<Key>): (key: Key) => Promise<Facts | null> {
      const shared = batched(lookupOf<Key, Facts>(runner, dialect.jsonLists, lookup));
      const own = ownOrGroups<Key, Facts>(lookup);
      // A shared statement may run outside the transaction, and would not see what this one has written.
      return (key) => (currentTransaction() ? own(key) : shared(key));
    },
    batchedRead<Row extends object>(text: string): () => Promise<Row[]> {
      const own = () => runner.lookUp<Row>(text, []);
      const readFor = async (calls: readonly true[]) => {
        const found = await own();
        return calls.map(() => found);
      };
      const shared = batched<true, Row[]>(readFor);
      const inTransaction = () => inGroup(readFor, () => collector(readFor))?.(true) ?? own();
      return async () => (currentTransaction() ? inTransaction() : ((await shared(true)) ?? []));
    },
    batchedFirst: <Key, Facts extends object>(lookup: Lookup<Key>) =>
      dialect.name === 'sqlite'
        ? batched(lookupOf<Key, Facts>(runner, dialect.jsonLists, lookup))
        : ownOrGroups<Key, Facts>(lookup),
    insert: (model) => insertInto(runner, model),
    insertLater: (model, onInserted) => insertLaterInto(runner, model, onInserted),
    update: (model) => updateOf(runner, model),
    insertAll: (model, returning) => insertAllInto(runner, model, returning),
    lock: rowLocks(runner, dialect),
    lockTable: tableLocks(runner, dialect),
  };
}

const opened = new WeakMap<Sequelize, Sql>();

export function sqlOf(sequelize: Sequelize): Sql {
  const known = opened.get(sequelize) ?? createSql(sequelize);
  opened.set(sequelize, known);
  return known;
}
