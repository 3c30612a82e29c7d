// Which versions work with one schema, so that servers on one PostgreSQL database can be upgraded one after the other.
import { QueryTypes, type Sequelize } from 'sequelize';
import type { Logger } from '#server/platform/logger.ts';
import { OperatorError } from '#server/platform/operator-error.ts';
import { dialectOf } from './connect.ts';
import type { PostgresWatch } from './postgres-watch.ts';
import type { ControlledGuard } from './storage-guard.ts';

/**
 * The last migration of the release before this one: its servers keep working with the schema of this release. Change it
 * once per release, and let migrations remove or rename only what no server since then uses (CONTRIBUTING.md).
 */
const MIN_APP_SCHEMA = '0021-servers';

/** A server whose last report is older has gone. */
const PRESENT_MS = 6000;

/** Servers are running that this version's schema would break. */
class OlderServersError extends OperatorError {
  override readonly name = 'OlderServersError';
  override readonly code = 'unavailable';
  override readonly refusal = 'database';
}

const SERVERS_BEFORE = `
  SELECT name AS "name", address AS "address", version AS "version" FROM servers
  WHERE schema_name < $1 AND last_seen_at > extract(epoch FROM clock_timestamp()) * 1000 - ${PRESENT_MS}
  ORDER BY name, address`;

/**
 * Runs in the transaction of the migration, before anything has changed, and again at its end: a server that was frozen may
 * be back. @throws OlderServersError
 */
export async function refuseOlderServers(sequelize: Sequelize): Promise<void> {
  if (dialectOf(sequelize) !== 'postgres' || !(await sequelize.getQueryInterface().tableExists('servers')))
    return;
  const [older] = await sequelize.query<{ name: string; address: string; version: string }>(SERVERS_BEFORE, {
    bind: [MIN_APP_SCHEMA],
    type: QueryTypes.SELECT,
  });
  if (!older) return;
  throw new OlderServersError(
    `the server ${older.name} (${older.address}) runs version ${older.version}, more than one version behind; ` +
      'upgrade all servers to the version in between first, or stop them',
  );
}

/** Runs in the transaction of the migration, after it. */
export async function noteSupport(sequelize: Sequelize): Promise<void> {
  await sequelize.query(
    `INSERT INTO schema_support (id, min_app_schema) VALUES (1, '${MIN_APP_SCHEMA}')
      ON CONFLICT (id) DO UPDATE SET min_app_schema = excluded.min_app_schema`,
  );
}

const SUPPORT = 'SELECT min_app_schema AS "schema" FROM schema_support';

/**
 * Whether the newer version that has migrated the database says that this one still works with it. SQLite databases have
 * one server, which is upgraded as a whole.
 */
export async function isSupported(
  sequelize: Sequelize,
  isKnown: (schema: string) => boolean,
): Promise<boolean> {
  if (dialectOf(sequelize) !== 'postgres') return false;
  if (!(await sequelize.getQueryInterface().tableExists('schema_support'))) return false;
  const [row] = await sequelize.query<{ schema: string }>(SUPPORT, { type: QueryTypes.SELECT });
  return row !== undefined && isKnown(row.schema);
}

interface Needs {
  watch: Pick<PostgresWatch, 'alsoRead' | 'confirm'>;
  guard: Pick<ControlledGuard, 'isOutdated' | 'stopWrites' | 'resumeWrites' | 'beforeFreshCheck'>;
  isKnown(schema: string): boolean;
  logger: Pick<Logger, 'info' | 'error'>;
}

/**
 * Stops changes while the database says that this version does not work with it. The version that has migrated it counted
 * this server as gone, because it was frozen or cut off. Call it after the migrations.
 */
export function followSupport({ watch, guard, isKnown, logger }: Needs): void {
  watch.alsoRead(SUPPORT, (schema) => {
    const isOutdated = typeof schema === 'string' && !isKnown(schema);
    if (isOutdated === guard.isOutdated()) return;
    if (isOutdated) {
      guard.stopWrites('outdated');
      logger.error(
        'a newer version has migrated the database: changes are refused until this server is upgraded',
      );
    } else {
      guard.resumeWrites('outdated');
      logger.info('this version works with the database again');
    }
  });
  guard.beforeFreshCheck(watch.confirm);
}
