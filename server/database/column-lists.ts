// The columns of a table in hand-written SQL, by the names that they have in its rows.
import type { Model, ModelStatic } from 'sequelize';

type Columns = Readonly<Record<string, string>>;

/** For a SELECT: `e.license_id AS "licenseId", …`. */
export function selectList(columns: Columns, table: string): string {
  return Object.entries(columns)
    .map(([name, column]) => `${table}.${column} AS "${name}"`)
    .join(', ');
}

/** For a SELECT of whole rows of a model: `created_at AS "createdAt", …`, or with a table `t.created_at AS "createdAt", …`. */
export function modelColumns<Row extends object>(model: ModelStatic<Model<Row>>, table?: string): string {
  const prefix = table === undefined ? '' : `${table}.`;
  return Object.entries<{ field?: string }>(model.getAttributes())
    .map(([name, { field = name }]) => `${prefix}${field} AS "${name}"`)
    .join(', ');
}

/** For an INSERT: `(license_id, …) VALUES ($licenseId, …)`. */
export function insertValues(columns: Columns): string {
  const values = Object.keys(columns).map((name) => `$${name}`);
  return `(${Object.values(columns).join(', ')}) VALUES (${values.join(', ')})`;
}
