// Brings the database to this version's schema.
import type { Sequelize } from 'sequelize';
import { SequelizeStorage, Umzug } from 'umzug';
import { type Dialect, dialectOf } from './connect.ts';
import { createInitialSchema } from './migrations/0001-initial.ts';
import type { RunTransaction } from './transaction.ts';

interface Migration {
  name: string;
  up(sequelize: Sequelize, dialect: Dialect): Promise<void>;
}

const MIGRATIONS: Migration[] = [{ name: '0001-initial', up: createInitialSchema }];

/** Any number that nothing else locks: servers that start together migrate one after the other. */
const POSTGRES_MIGRATION_LOCK = 8_787_001;

/** The database was written by a later version, which this one could only damage. */
class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError';
}

function refuseNewer(executed: string[]): void {
  const known = new Set(MIGRATIONS.map((migration) => migration.name));
  const newer = executed.filter((name) => !known.has(name));
  if (newer.length === 0) return;
  throw new NewerDatabaseError(
    `the database was written by a newer version of License Desk (${newer.join(', ')}); update this one`,
  );
}

function umzugFor(sequelize: Sequelize, dialect: Dialect): Umzug {
  return new Umzug({
    migrations: MIGRATIONS.map((migration) => ({
      name: migration.name,
      up: () => migration.up(sequelize, dialect),
    })),
    storage: new SequelizeStorage({ sequelize, tableName: 'migrations' }),
    logger: undefined,
  });
}

/**
 * All in one transaction, the record of what has run included: a crash leaves the old schema or the new one.
 * @throws NewerDatabaseError before anything is changed
 */
export async function migrate(sequelize: Sequelize, transaction: RunTransaction): Promise<void> {
  const dialect = dialectOf(sequelize);
  const umzug = umzugFor(sequelize, dialect);
  await transaction(async () => {
    if (dialect === 'postgres')
      await sequelize.query(`SELECT pg_advisory_xact_lock(${POSTGRES_MIGRATION_LOCK})`);
    refuseNewer((await umzug.executed()).map(({ name }) => name));
    await umzug.up();
  });
}

/** The names of migrations that the next start will apply. @throws NewerDatabaseError */
export async function pendingMigrations(sequelize: Sequelize): Promise<string[]> {
  const umzug = umzugFor(sequelize, dialectOf(sequelize));
  refuseNewer((await umzug.executed()).map(({ name }) => name));
  return (await umzug.pending()).map(({ name }) => name);
}
