// Migrates the database to the schema of this version.
import { QueryTypes, type Sequelize } from 'sequelize';
import type { Umzug } from 'umzug';
import { type Dialect, dialectOf } from './connect.ts';
import { createInitialSchema } from './migrations/0001-initial.ts';
import { createCertificateTables } from './migrations/0002-certificates.ts';
import { createLicenseSearch } from './migrations/0003-license-search.ts';
import { createOverviewIndices } from './migrations/0004-overview.ts';
import { createLicenseImports } from './migrations/0006-license-imports.ts';
import { createServiceMarks } from './migrations/0005-service-marks.ts';
import { createFigureIndices } from './migrations/0007-figures.ts';
import { createRetentionTables } from './migrations/0008-retention.ts';
import { createDistrust } from './migrations/0009-distrust.ts';
import { addLicenseDetails } from './migrations/0010-license-details.ts';
import { addApiTokenLimits } from './migrations/0011-api-token-limits.ts';
import { createLeases } from './migrations/0012-leases.ts';
import { createFirstActivationIndex } from './migrations/0013-first-activations.ts';
import { addWebhookEdits } from './migrations/0014-webhook-edits.ts';
import { createLeaseRules } from './migrations/0015-lease-rules.ts';
import { createDeniedCalls } from './migrations/0016-denied-calls.ts';
import { addCustomFields } from './migrations/0017-custom-fields.ts';
import { addDeviceHistory } from './migrations/0018-device-history.ts';
import { createServers } from './migrations/0021-servers.ts';
import { createSchemaSupport } from './migrations/0022-schema-support.ts';
import { createSharedSessions } from './migrations/0023-shared-sessions.ts';
import { createCountIndices } from './migrations/0024-counts.ts';
import { createKeptFigures } from './migrations/0025-figures.ts';
import { createPostgresReads } from './migrations/0026-postgres-reads.ts';
import { addServerReplicas } from './migrations/0027-server-replicas.ts';
import { addOlderWebhookSecrets } from './migrations/0028-older-webhook-secrets.ts';
import { createEarlierFiles } from './migrations/0029-earlier-files.ts';
import { allowLostCertificates } from './migrations/0030-revocations-of-lost-certificates.ts';
import { addOrderNumbersToSearch } from './migrations/0031-order-numbers-in-search.ts';
import { isSupported, noteSupport, refuseOlderServers } from './schema-support.ts';
import type { RunTransaction } from './transaction.ts';
import { faultOf } from '#server/platform/database-fault.ts';
import { OperatorError } from '#server/platform/operator-error.ts';

interface Migration {
  name: string;
  up(sequelize: Sequelize, dialect: Dialect): Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-initial', up: createInitialSchema },
  { name: '0002-certificates', up: createCertificateTables },
  { name: '0003-license-search', up: createLicenseSearch },
  { name: '0004-overview', up: createOverviewIndices },
  { name: '0005-service-marks', up: createServiceMarks },
  { name: '0006-license-imports', up: createLicenseImports },
  { name: '0007-figures', up: createFigureIndices },
  { name: '0008-retention', up: createRetentionTables },
  { name: '0009-distrust', up: createDistrust },
  { name: '0010-license-details', up: addLicenseDetails },
  { name: '0011-api-token-limits', up: addApiTokenLimits },
  { name: '0012-leases', up: createLeases },
  { name: '0013-first-activations', up: createFirstActivationIndex },
  { name: '0014-webhook-edits', up: addWebhookEdits },
  { name: '0015-lease-rules', up: createLeaseRules },
  { name: '0016-denied-calls', up: createDeniedCalls },
  { name: '0017-custom-fields', up: addCustomFields },
  { name: '0018-device-history', up: addDeviceHistory },
  { name: '0021-servers', up: createServers },
  { name: '0022-schema-support', up: createSchemaSupport },
  { name: '0023-shared-sessions', up: createSharedSessions },
  { name: '0024-counts', up: createCountIndices },
  { name: '0025-figures', up: createKeptFigures },
  { name: '0026-postgres-reads', up: createPostgresReads },
  { name: '0027-server-replicas', up: addServerReplicas },
  { name: '0028-older-webhook-secrets', up: addOlderWebhookSecrets },
  { name: '0029-earlier-files', up: createEarlierFiles },
  { name: '0030-revocations-of-lost-certificates', up: allowLostCertificates },
  { name: '0031-order-numbers-in-search', up: addOrderNumbersToSearch },
];

/** One row per applied migration, with its name. */
export const MIGRATIONS_TABLE = 'migrations';

/** Name of this version's schema: its last migration. */
export const SCHEMA = MIGRATIONS.at(-1)?.name ?? '';

export function isKnownSchema(name: string): boolean {
  return MIGRATIONS.some((migration) => migration.name === name);
}

/** An arbitrary number that nothing else locks, so that servers that start together migrate one after the other. */
const POSTGRES_MIGRATION_LOCK = 8_787_001;

/** A later version wrote the database, and this version could damage it. */
class NewerDatabaseError extends OperatorError {
  override readonly name = 'NewerDatabaseError';
  override readonly code = 'unavailable';
  override readonly refusal = 'newer_database';
}

async function refuseNewer(sequelize: Sequelize, executed: string[]): Promise<void> {
  const newer = executed.filter((name) => !isKnownSchema(name));
  if (newer.length === 0 || (await isSupported(sequelize, isKnownSchema))) return;
  throw new NewerDatabaseError(
    `the database was written by a newer version of License Desk (${newer.join(', ')}); install that version or a later one`,
  );
}

/**
 * Reads the applied migrations without umzug: loading it takes a fifth of a second, and most starts have nothing to
 * migrate.
 */
async function executedNames(sequelize: Sequelize): Promise<string[]> {
  if (!(await sequelize.getQueryInterface().tableExists(MIGRATIONS_TABLE))) return [];
  const rows = await sequelize.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE}`, {
    type: QueryTypes.SELECT,
  });
  return rows.map(({ name }) => name);
}

function pendingOf(executed: readonly string[]): string[] {
  return MIGRATIONS.map(({ name }) => name).filter((name) => !executed.includes(name));
}

async function umzugFor(sequelize: Sequelize, dialect: Dialect): Promise<Umzug> {
  const { SequelizeStorage, Umzug: Migrator } = await import('umzug');
  return new Migrator({
    migrations: MIGRATIONS.map((migration) => ({
      name: migration.name,
      up: () => migration.up(sequelize, dialect),
    })),
    storage: new SequelizeStorage({ sequelize, tableName: MIGRATIONS_TABLE }),
    logger: undefined,
  });
}

/** What concerns the database itself, such as a lost connection, without the name of the migration that met it. */
function aboutMigration(error: unknown): unknown {
  const { cause } = error as Error;
  return faultOf(cause) === null ? error : cause;
}

/**
 * Runs all migrations and records them in one transaction, so a crash leaves either the old or the new schema.
 * @param refuseEmpty called before an empty database is written to; may throw
 * @throws NewerDatabaseError before anything is changed
 */
export async function migrate(
  sequelize: Sequelize,
  transaction: RunTransaction,
  refuseEmpty: () => void = () => {},
): Promise<void> {
  const pending = await pendingMigrations(sequelize);
  if (pending.length === 0) return;
  if (pending.length === MIGRATIONS.length) refuseEmpty();
  const dialect = dialectOf(sequelize);
  const umzug = await umzugFor(sequelize, dialect);
  await transaction(async () => {
    // Servers that start together take turns, without a time limit. The later ones find nothing to do.
    if (dialect === 'postgres') {
      await sequelize.query('SET LOCAL lock_timeout = 0');
      await sequelize.query('SET LOCAL statement_timeout = 0');
      await sequelize.query(`SELECT pg_advisory_xact_lock(${POSTGRES_MIGRATION_LOCK})`);
    }
    await refuseOlderServers(sequelize);
    await umzug.up().catch((error: unknown) => {
      throw aboutMigration(error);
    });
    await refuseOlderServers(sequelize);
    await noteSupport(sequelize);
  });
}

/** Whether no migration has run: the database is new, or its content is lost. @throws NewerDatabaseError */
export async function isEmptyDatabase(sequelize: Sequelize): Promise<boolean> {
  return (await pendingMigrations(sequelize)).length === MIGRATIONS.length;
}

/** Names of the migrations that the next start will apply. @throws NewerDatabaseError */
export async function pendingMigrations(sequelize: Sequelize): Promise<string[]> {
  const executed = await executedNames(sequelize);
  await refuseNewer(sequelize, executed);
  return pendingOf(executed);
}
