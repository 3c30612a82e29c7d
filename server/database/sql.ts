// The one way to hand-written SQL: typed rows, values by name (`$name`), inside the current transaction if there is one.
import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { batched, type Lookup } from './batched-lookup.ts';
import { type InsertAll, insertAllInto, insertInto, type InsertRow } from './insert-row.ts';
import { inOrder, numbered, type Values } from './named-values.ts';
import { type SqlDialect, sqlDialect } from './sql-dialect.ts';
import { statementRunner } from './statement-runner.ts';

type RowModel<Row extends { id: number }> = ModelStatic<Model<Row, Optional<Row, 'id'>>>;

/** A hot statement: kept compiled on SQLite, and read on the connection for look-ups. Its text never changes. */
export interface Statement<Row extends object> {
  all(values?: Values): Promise<Row[]>;
  /** Null if there is no row. */
  first(values?: Values): Promise<Row | null>;
  /** Of a statement that returns no rows. @returns how many it changed */
  run(values?: Values): Promise<number>;
}

/** Lists are bound as one value, for `dialect.isIn`. */
export interface Sql {
  dialect: SqlDialect;
  select<Row extends object>(text: string, values?: Values): Promise<Row[]>;
  /** Null if there is no row. */
  selectFirst<Row extends object>(text: string, values?: Values): Promise<Row | null>;
  /** Of a statement that returns no rows. @returns how many it changed */
  run(text: string, values?: Values): Promise<number>;
  /** Call it once per text, when a store is made. */
  statement<Row extends object>(text: string): Statement<Row>;
  /** A look-up that clients hammer: calls that arrive together share one statement. */
  batched<Key, Facts extends object>(lookup: Lookup<Key>): (key: Key) => Promise<Facts | null>;
  insert<Row extends { id: number }>(model: RowModel<Row>): InsertRow<Row>;
  insertAll<Row extends { id: number }, Name extends keyof Row & string>(
    model: RowModel<Row>,
    returning: readonly Name[],
  ): InsertAll<Row, Name>;
  /**
   * Locks rows until the transaction ends, so that what is decided from them still holds when it is written; SQLite has one
   * writer, and needs no lock. A statement of its own, ahead of a SELECT with subqueries: PostgreSQL re-reads only the locked
   * row after a wait, while subqueries beside `FOR UPDATE` would still see what was there before it.
   * @param where the columns' values; all rows if there are none
   * @param strength `SHARE`: many may hold it at once, while nobody changes the row
   */
  lock(
    table: string,
    where?: Readonly<Record<string, string | number>>,
    strength?: 'UPDATE' | 'SHARE',
  ): Promise<void>;
}

function createSql(sequelize: Sequelize): Sql {
  const runner = statementRunner(sequelize);
  const dialect = sqlDialect(sequelize);

  /** @param run has the text with numbers and its values */
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

  return {
    dialect,
    select,
    selectFirst: async <Row extends object>(text: string, values?: Values) =>
      (await select<Row>(text, values))[0] ?? null,
    run: (text, values) => prepared(text, (sql, bound) => runner.changes(sql, bound, false))(values),
    statement<Row extends object>(text: string): Statement<Row> {
      const all = prepared(text, (sql, bound) => runner.rows<Row>(sql, bound, true));
      return {
        all,
        first: async (values) => (await all(values))[0] ?? null,
        run: prepared(text, (sql, bound) => runner.changes(sql, bound, true)),
      };
    },
    batched: (lookup) => batched(runner, lookup),
    insert: (model) => insertInto(runner, model),
    insertAll: (model, returning) => insertAllInto(runner, model, returning),
    async lock(table, where = {}, strength = 'UPDATE') {
      if (dialect.name === 'sqlite') return;
      const condition = Object.keys(where).map((column) => `${column} = $${column}`);
      const rows = condition.length === 0 ? 'ORDER BY id' : `WHERE ${condition.join(' AND ')}`;
      await select(`SELECT 1 FROM ${table} ${rows} FOR ${strength}`, where);
    },
  };
}

const opened = new WeakMap<Sequelize, Sql>();

export function sqlOf(sequelize: Sequelize): Sql {
  const known = opened.get(sequelize) ?? createSql(sequelize);
  opened.set(sequelize, known);
  return known;
}
