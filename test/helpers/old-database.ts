// Databases as earlier versions left them: their schema, and the rows that they would have had.
import { DataTypes, QueryTypes } from 'sequelize';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { MIGRATIONS, MIGRATIONS_TABLE } from '#server/database/migrate.ts';

type Row = Record<string, unknown>;

/** Before those that refer to them. */
const TABLES = [
  'plans',
  'licenses',
  'signing_keys',
  'activations',
  'authorization_tokens',
  'authorization_counts',
  'api_tokens',
  'webhooks',
  'events',
  'deliveries',
  'delivery_attempts',
  'audit_entries',
  'certificate_authorities',
  'certificates',
  'revocation_lists',
  'revocation_entries',
  'service_marks',
];

/** All rows of `TABLES`. @param file a SQLite file */
export async function readTables(file: string): Promise<Map<string, Row[]>> {
  const sequelize = await connect({ url: null, file });
  try {
    const tables = new Map<string, Row[]>();
    for (const table of TABLES)
      tables.set(table, await sequelize.query<Row>(`SELECT * FROM ${table}`, { type: QueryTypes.SELECT }));
    return tables;
  } finally {
    await sequelize.close();
  }
}

/** Runs the migrations up to `version`, and inserts the rows, each without the columns that the version did not have. */
export async function writeOldDatabase(
  location: DatabaseLocation,
  version: string,
  tables: ReadonlyMap<string, readonly Row[]>,
): Promise<void> {
  const sequelize = await connect(location, { create: true });
  const known = MIGRATIONS.slice(0, MIGRATIONS.findIndex(({ name }) => name === version) + 1);
  const queries = sequelize.getQueryInterface();
  const dialect = sequelize.getDialect() as 'sqlite' | 'postgres';
  const insert = async (table: string, row: Row) => {
    const names = Object.keys(row);
    const slots = names.map((_, index) => `$${index + 1}`);
    await sequelize.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${slots.join(', ')})`, {
      bind: Object.values(row),
    });
  };
  try {
    await queries.createTable(MIGRATIONS_TABLE, { name: { type: DataTypes.STRING, primaryKey: true } });
    for (const { name, up } of known) {
      await up(sequelize, dialect);
      await insert(MIGRATIONS_TABLE, { name });
    }
    // The first migration brings plans; the rows have them, too.
    await sequelize.query('DELETE FROM plans');
    const existing = new Set(await queries.showAllTables());
    for (const [table, rows] of tables) {
      if (!existing.has(table)) continue;
      const columns = await queries.describeTable(table);
      for (const row of rows)
        await insert(table, Object.fromEntries(Object.entries(row).filter(([name]) => name in columns)));
      if (dialect === 'postgres' && columns['id'])
        await sequelize.query(
          `SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id)) FROM ${table}`,
        );
    }
  } finally {
    await sequelize.close();
  }
}
