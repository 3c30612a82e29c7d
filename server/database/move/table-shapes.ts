// The tables of a database as they are copied: names, columns, kinds of values and primary keys, from a migrated SQLite file.
import { MIGRATIONS_TABLE } from '../migrate.ts';
import type { SqliteFile } from '../sqlite-file.ts';

/** Times, counts and booleans are integers; JSON is text. */
export type ColumnKind = 'integer' | 'text' | 'bytes';

export interface Column {
  name: string;
  kind: ColumnKind;
}

export interface TableShape {
  name: string;
  columns: readonly Column[];
  /** The columns of the primary key, in its order. */
  key: readonly Column[];
  /** Whether the database assigns the IDs. */
  hasSequence: boolean;
}

/** The last ID that was assigned in each table. */
export type LastIds = ReadonlyMap<string, number>;

const KINDS: Readonly<Record<string, ColumnKind>> = {
  BIGINT: 'integer',
  INTEGER: 'integer',
  TEXT: 'text',
  'VARCHAR(255)': 'text',
  BLOB: 'bytes',
};

/**
 * Both databases get the first two by migrating; running servers report themselves; sessions end with a move or a
 * restore; SQLite keeps the number of licenses as they are copied.
 */
const NOT_COPIED = new Set([
  MIGRATIONS_TABLE,
  'schema_support',
  'servers',
  'admin_sessions',
  'sign_in_codes',
  'license_kinds',
]);

interface ColumnRow {
  name: string;
  type: string;
  pk: number;
}

async function shapeOf(database: SqliteFile, table: string, sql: string): Promise<TableShape> {
  const rows = await database.all<ColumnRow>(`SELECT name, type, pk FROM pragma_table_info('${table}')`);
  const columnOf = ({ name, type }: ColumnRow): Column => {
    const kind = KINDS[type.toUpperCase()];
    // A new kind of column needs a text form that both databases write alike.
    if (!kind) throw new Error(`the column ${table}.${name} has the type ${type}, which cannot be copied`);
    return { name, kind };
  };
  const key = rows.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  if (key.length === 0) throw new Error(`the table ${table} has no primary key, so it cannot be copied`);
  return {
    name: table,
    columns: rows.map(columnOf),
    key: key.map(columnOf),
    hasSequence: sql.includes('AUTOINCREMENT'),
  };
}

/** All tables except the search index, which follows from the licenses. */
export async function tableShapes(database: SqliteFile): Promise<TableShape[]> {
  const tables = await database.all<{ name: string; sql: string }>(
    `SELECT l.name, s.sql FROM pragma_table_list AS l JOIN sqlite_master AS s ON s.name = l.name
     WHERE l.schema = 'main' AND l.type = 'table' ORDER BY l.name`,
  );
  const shapes: TableShape[] = [];
  for (const { name, sql } of tables) {
    if (name.startsWith('sqlite_') || NOT_COPIED.has(name)) continue;
    shapes.push(await shapeOf(database, name, sql));
  }
  return shapes;
}

export const columnList = (columns: readonly Column[]): string => columns.map(({ name }) => name).join(', ');
