// Inserts a model's row by a compiled statement, which takes a tenth of the time of the model's create().
import type { Model, ModelStatic, Optional } from 'sequelize';
import { type LaterTable, type OnInserted, writingTransaction } from './current-transaction.ts';
import { keepForCommit } from './later-rows.ts';
import { rowsOfList, toList } from './row-list.ts';
import { collector, inGroup } from './shared-statements.ts';
import type { StatementRunner } from './statement-runner.ts';

const ROWS_AT_ONCE = 100;

/** @returns the new row's ID */
export type InsertRow<Row extends { id: number }> = (row: Omit<Row, 'id'>) => Promise<number>;

/** Writes every attribute except the ID, each from the property of the same name. */
export function insertInto<Row extends { id: number }>(
  runner: StatementRunner,
  model: ModelStatic<Model<Row, Optional<Row, 'id'>>>,
): InsertRow<Row> {
  const { sql, bind, insertAll } = insertOf(runner, model, ['id']);
  const insert = sql(1);

  return async (row) => {
    const shared = inGroup(insertAll, () => collector(insertAll));
    if (shared) {
      writingTransaction();
      return shared(bind(row));
    }
    const [inserted] = await runner.rows<{ id: number }>(insert, bind(row), true);
    if (!inserted) throw new Error(`inserting into ${String(model.getTableName())} returned no row`);
    return inserted.id;
  };
}

/** For rows that the change itself does not need. */
export type InsertLater<Row extends { id: number }> = (row: Omit<Row, 'id'>) => Promise<void>;

/** Like `insertInto`. If changes share a commit, the row is written right before it, together with others. */
export function insertLaterInto<Row extends { id: number }>(
  runner: StatementRunner,
  model: ModelStatic<Model<Row, Optional<Row, 'id'>>>,
  onInserted?: OnInserted,
): InsertLater<Row> {
  const { sql, bind, insertAll } = insertOf(runner, model, ['id']);
  const texts = new Map<number, string>();
  const table: LaterTable = {
    insert(rows) {
      const text = texts.get(rows) ?? sql(rows);
      texts.set(rows, text);
      return text;
    },
    insertAll,
    onInserted,
  };
  return async (row) => {
    if (keepForCommit(table, bind(row))) return;
    const inserted = await runner.rows<{ id: number }>(table.insert(1), bind(row), true);
    await onInserted?.(inserted.map(({ id }) => id));
  };
}

/** @returns the requested columns of each new row, in no particular order */
export type InsertAll<Row extends { id: number }, Name extends keyof Row> = (
  rows: readonly Omit<Row, 'id'>[],
) => Promise<Pick<Row, Name>[]>;

/** Inserts many rows, a hundred per statement. */
export function insertAllInto<Row extends { id: number }, Name extends keyof Row & string>(
  runner: StatementRunner,
  model: ModelStatic<Model<Row, Optional<Row, 'id'>>>,
  returning: readonly Name[],
): InsertAll<Row, Name> {
  const { sql, bind } = insertOf(runner, model, returning);
  const one = sql(1);
  const many = sql(ROWS_AT_ONCE);
  return async (rows) => {
    const inserted: Pick<Row, Name>[] = [];
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      const some = rows.slice(start, start + ROWS_AT_ONCE);
      // Only two statement texts, because each is kept compiled.
      if (some.length === ROWS_AT_ONCE)
        inserted.push(...(await runner.rows<Pick<Row, Name>>(many, some.flatMap(bind), true)));
      else
        for (const row of some) inserted.push(...(await runner.rows<Pick<Row, Name>>(one, bind(row), true)));
    }
    return inserted;
  };
}

function insertOf<Row extends { id: number }>(
  runner: StatementRunner,
  model: ModelStatic<Model<Row, Optional<Row, 'id'>>>,
  returning: readonly string[],
) {
  const attributes = Object.entries(model.getAttributes());
  const columnOf = new Map(attributes.map(([name, attribute]) => [name, attribute.field ?? name]));
  const names = attributes.map(([name]) => name).filter((name) => name !== 'id');
  const returned = returning.map((name) => `${columnOf.get(name)} AS "${name}"`).join(', ');
  const columns = names.map((name) => columnOf.get(name) as string);
  const table = String(model.getTableName());
  const slots = (row: number) =>
    names.map((_, index) => `${runner.placeholder}${row * names.length + index + 1}`).join(', ');
  const insertList = `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.join(', ')}
    FROM ${rowsOfList(table)} RETURNING ${returned}`;
  return {
    sql(rows: number): string {
      const values = Array.from({ length: rows }, (_, row) => `(${slots(row)})`).join(', ');
      return `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values} RETURNING ${returned}`;
    },
    /** By one statement, on PostgreSQL. @returns the IDs, in the order of the rows */
    async insertAll(rows: readonly (readonly unknown[])[]): Promise<number[]> {
      const inserted = await runner.rows<{ id: number }>(insertList, [toList(columns, rows)], true);
      if (inserted.length !== rows.length)
        throw new Error(`inserting into ${table} returned another number of rows`);
      // They were numbered in their order.
      return inserted.map(({ id }) => id).toSorted((a, b) => a - b);
    },
    bind: (row: Omit<Row, 'id'>): unknown[] => names.map((name) => row[name as keyof typeof row] ?? null),
  };
}
