// The columns of a table in hand-written SQL, by the names that they have in its rows.
type Columns = Readonly<Record<string, string>>;

/** For a SELECT: `e.license_id AS "licenseId", …`. */
export function selectList(columns: Columns, table: string): string {
  return Object.entries(columns)
    .map(([name, column]) => `${table}.${column} AS "${name}"`)
    .join(', ');
}

/** For an INSERT: `(license_id, …) VALUES ($licenseId, …)`. */
export function insertValues(columns: Columns): string {
  const values = Object.keys(columns).map((name) => `$${name}`);
  return `(${Object.values(columns).join(', ')}) VALUES (${values.join(', ')})`;
}
