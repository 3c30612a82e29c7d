// Inserts a row of a model by a compiled statement: a tenth of the work of the model's own create().
import type { Model, ModelStatic, Optional } from 'sequelize';
import type { PreparedQuery } from './prepared-query.ts';

/** @returns the new row's id */
export type InsertRow<Row extends { id: number }> = (row: Omit<Row, 'id'>) => Promise<number>;

/** All attributes of the model but its id are written, each from the property of its name. */
export function insertInto<Row extends { id: number }>(
  query: PreparedQuery,
  model: ModelStatic<Model<Row, Optional<Row, 'id'>>>,
): InsertRow<Row> {
  const attributes = Object.entries(model.getAttributes()).filter(([name]) => name !== 'id');
  const columns = attributes.map(([name, attribute]) => attribute.field ?? name);
  const values = columns.map((_, index) => `$${index + 1}`);
  const sql = `INSERT INTO ${String(model.getTableName())} (${columns.join(', ')}) VALUES (${values.join(', ')}) RETURNING id`;
  return async (row) => {
    const bound = attributes.map(([name]) => row[name as keyof typeof row] ?? null);
    const [inserted] = await query<{ id: number }>(sql, bound);
    if (!inserted) throw new Error(`${String(model.getTableName())} took no row`);
    return inserted.id;
  };
}
