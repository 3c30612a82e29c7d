// Updates a model's row by a compiled statement, which takes a tenth of the time of the model's update().
import type { Model, ModelStatic, Optional } from 'sequelize';
import { writingTransaction } from './current-transaction.ts';
import { numbered } from './named-values.ts';
import { rowsOfList, toList } from './row-list.ts';
import { collector, inGroup } from './shared-statements.ts';
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
  const table = String(model.getTableName());
  const statements = new Map<string, ReturnType<typeof statementFor>>();

  function statementFor(fields: readonly string[]) {
    const columns = fields.map((field) => columnOf.get(field) as string);
    const set = fields.map((field, index) => `${columns[index]} = $${field}`).join(', ');
    const { text } = numbered(`UPDATE ${table} SET ${set} WHERE id = $id`, runner.placeholder);
    const setListed = columns.map((column) => `${column} = listed.${column}`).join(', ');
    const textOfList = `UPDATE ${table} SET ${setListed} FROM ${rowsOfList(table)} WHERE ${table}.id = listed.id`;

    /** The last item of each row is its ID. */
    async function updateAll(rows: readonly (readonly unknown[])[]): Promise<void[]> {
      // A row takes one of several changes in a statement.
      for (let left = rows; left.length > 0;) {
        const some = new Map(left.toReversed().map((row) => [row.at(-1), row]));
        // In the same order everywhere, so that two transactions that lock several rows do not wait for each other.
        const inOrder = [...some.values()].toSorted(
          (one, other) => Number(one.at(-1)) - Number(other.at(-1)),
        );
        await runner.changes(textOfList, [toList([...columns, 'id'], inOrder)], true);
        left = left.filter((row) => some.get(row.at(-1)) !== row);
      }
      return rows.map(() => undefined);
    }

    return { text, updateAll };
  }

  return async (id, changes) => {
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    if (given.length === 0) return;
    const fields = given.map(([field]) => field);
    const key = fields.join();
    const { text, updateAll } = statements.get(key) ?? statementFor(fields);
    statements.set(key, { text, updateAll });
    const values = [...given.map(([, value]) => value), id];
    const shared = inGroup(updateAll, () => collector(updateAll));
    if (!shared) return void (await runner.changes(text, values, true));
    writingTransaction();
    await shared(values);
  };
}
