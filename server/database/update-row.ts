// Updates a model's row by a compiled statement, which takes a tenth of the time of the model's update().
import type { Model, ModelStatic, Optional } from 'sequelize';
import { numbered } from './named-values.ts';
import type { StatementRunner } from './statement-runner.ts';

/** Fields that are undefined keep their value. */
export type UpdateRow<Row extends { id: number }> = (
  id: number,
  changes: Partial<Omit<Row, 'id'>>,
) => Promise<void>;

/** One statement for each set of fields that callers change together; there are few. */
export function updateOf<Row extends { id: number }>(
  runner: StatementRunner,
  model: ModelStatic<Model<Row, Optional<Row, 'id'>>>,
): UpdateRow<Row> {
  const columnOf = new Map(
    Object.entries(model.getAttributes()).map(([name, attribute]) => [name, attribute.field ?? name]),
  );
  const texts = new Map<string, string>();

  function textFor(fields: readonly string[]): string {
    const set = fields.map((field) => `${columnOf.get(field)} = $${field}`).join(', ');
    return numbered(`UPDATE ${String(model.getTableName())} SET ${set} WHERE id = $id`, runner.placeholder)
      .text;
  }

  return async (id, changes) => {
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    if (given.length === 0) return;
    const fields = given.map(([field]) => field);
    const key = fields.join();
    const text = texts.get(key) ?? textFor(fields);
    texts.set(key, text);
    await runner.changes(text, [...given.map(([, value]) => value), id], true);
  };
}
