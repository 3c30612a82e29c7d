// The tables of a PostgreSQL database that is copied: digests, last IDs, and the constraints that wait until rows are in place.
import type { PostgresConnection } from '../postgres-connection.ts';
import { copyOut } from './postgres-copy.ts';
import { createDigest, type TableDigest } from './table-digest.ts';
import { type Column, columnList, type LastIds, type TableShape } from './table-shapes.ts';

/** SQLite compares texts byte by byte. */
export const orderOf = (key: readonly Column[]): string =>
  key.map(({ name, kind }) => (kind === 'text' ? `${name} COLLATE "C"` : name)).join(', ');

export async function selectRows<Row extends object>(
  connection: PostgresConnection,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await connection.query(sql, values)).rows as Row[];
}

/** The names of all tables and views in the schema that new tables are created in. */
export async function tablesIn(connection: PostgresConnection): Promise<string[]> {
  const rows = await selectRows<{ name: string }>(
    connection,
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY relname`,
  );
  return rows.map(({ name }) => name);
}

/** @throws Error if a table does not have the columns that the other database has */
export async function requireColumns(
  connection: PostgresConnection,
  tables: readonly TableShape[],
): Promise<void> {
  for (const { name, columns } of tables) {
    const rows = await selectRows<{ name: string }>(
      connection,
      `SELECT attname AS name FROM pg_attribute
       WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped`,
      [name],
    );
    const names = (list: readonly { name: string }[]) =>
      list
        .map((column) => column.name)
        .toSorted()
        .join(', ');
    if (names(rows) !== names(columns))
      throw new Error(`the table ${name} has the columns ${names(rows)} instead of ${names(columns)}`);
  }
}

export async function postgresDigest(
  connection: PostgresConnection,
  { name, columns, key }: TableShape,
): Promise<TableDigest> {
  const digest = createDigest();
  const rows = `SELECT ${columnList(columns)} FROM ${name} ORDER BY ${orderOf(key)}`;
  await copyOut(connection, `COPY (${rows}) TO STDOUT`, (line) => digest.add(line, 1));
  return digest.finish();
}

const sequenceOf = (table: string) => `pg_get_serial_sequence('${table}', 'id')`;

/** Zero for a table that has not had a row yet. */
export async function postgresLastIds(
  connection: PostgresConnection,
  tables: readonly TableShape[],
): Promise<LastIds> {
  const ids = new Map<string, number>();
  for (const { name } of tables.filter(({ hasSequence }) => hasSequence)) {
    const [sequence] = await selectRows<{ name: string }>(connection, `SELECT ${sequenceOf(name)} AS name`);
    const [last] = await selectRows<{ id: number }>(
      connection,
      `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS id FROM ${sequence?.name}`,
    );
    ids.set(name, last?.id ?? 0);
  }
  return ids;
}

export async function setPostgresLastIds(connection: PostgresConnection, ids: LastIds): Promise<void> {
  for (const [table, id] of ids)
    await connection.query(`SELECT setval(${sequenceOf(table)}, $1, $2)`, [Math.max(id, 1), id > 0]);
}

/** Statements that remove and restore what makes each inserted row slow. */
interface Deferred {
  remove: string;
  restore: string;
}

/** The slowest ones first: those that search for parts of texts. */
const INDICES = `
  SELECT format('DROP INDEX %s', i.indexrelid::regclass) AS remove, pg_get_indexdef(i.indexrelid) AS restore
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid JOIN pg_class AS x ON x.oid = i.indexrelid
    JOIN pg_am AS a ON a.oid = x.relam
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY($1)
    AND NOT EXISTS (SELECT 1 FROM pg_constraint AS o WHERE o.conindid = i.indexrelid AND o.contype IN ('p', 'u', 'x'))
  ORDER BY a.amname = 'gin' DESC, i.indexrelid`;

const FOREIGN_KEYS = `
  SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS remove,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS restore
  FROM pg_constraint
  WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
    AND conrelid = ANY(SELECT oid FROM pg_class WHERE relname = ANY($1)) ORDER BY oid`;

/** The statements that restore what `deferConstraints` has removed. */
export interface DeferredConstraints {
  /** Independent of each other. */
  indices: readonly string[];
  /** Each locks two tables, and checks every row. */
  foreignKeys: readonly string[];
}

export async function deferConstraints(
  connection: PostgresConnection,
  tables: readonly TableShape[],
): Promise<DeferredConstraints> {
  const names = tables.map(({ name }) => name);
  const foreignKeys = await selectRows<Deferred>(connection, FOREIGN_KEYS, [names]);
  const indices = await selectRows<Deferred>(connection, INDICES, [names]);
  for (const { remove } of [...foreignKeys, ...indices]) await connection.query(remove);
  const restoring = (deferred: readonly Deferred[]) => deferred.map(({ restore }) => restore);
  return { indices: restoring(indices), foreignKeys: restoring(foreignKeys) };
}

/** Until the transaction ends, other connections can read but not write. */
export async function lockTables(connection: PostgresConnection): Promise<void> {
  const tables = await tablesIn(connection);
  await connection.query(`LOCK TABLE ${tables.join(', ')} IN SHARE MODE`);
}
