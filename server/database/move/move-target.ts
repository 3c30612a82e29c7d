// What a PostgreSQL database must be like to take a whole installation, and how one is emptied that an earlier move has begun
// to fill.
import type { Sequelize } from 'sequelize';
import type { PostgresConnection } from '../postgres-connection.ts';
import { MoveError } from './move-error.ts';
import { findMoveMark } from './move-mark.ts';
import { selectRows, tablesIn } from './postgres-tables.ts';

/** The oldest version with everything that is used: `client_connection_check_interval`. */
const LEAST_VERSION = 14;

interface Facts {
  version: number;
  encoding: string;
  schema: string | null;
  mayCreate: boolean | null;
  user: string;
}

const FACTS = `
  SELECT CAST(current_setting('server_version_num') AS INTEGER) / 10000 AS version,
    current_setting('server_encoding') AS encoding, current_schema() AS schema,
    has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate", current_user AS user`;

/** @param database its name without credentials @throws MoveError */
export async function requireUsable(connection: PostgresConnection, database: string): Promise<void> {
  const [facts] = await selectRows<Facts>(connection, FACTS);
  if (!facts) throw new Error('PostgreSQL does not describe itself');
  const { version, encoding, schema, mayCreate, user } = facts;
  if (version < LEAST_VERSION)
    throw new MoveError(
      `the database ${database} runs on PostgreSQL ${version}; it must be ${LEAST_VERSION} or later`,
    );
  if (encoding !== 'UTF8')
    throw new MoveError(
      `the database ${database} has the encoding ${encoding}; create one with the encoding UTF8`,
    );
  if (mayCreate !== true)
    throw new MoveError(
      `the user ${user} may not create tables in the database ${database}; run, as its owner: GRANT CREATE ON SCHEMA ${schema ?? 'public'} TO ${user}`,
    );
}

/**
 * @param installation the first signing key of the installation that is moved
 * @returns the tables to remove: none, or those of an earlier move of the same installation
 * @throws MoveError if the database has any others
 */
export async function leftoversOf(
  sequelize: Sequelize,
  connection: PostgresConnection,
  database: string,
  installation: string | null,
): Promise<string[]> {
  const tables = await tablesIn(connection);
  if (tables.length === 0) return [];
  const mark = await findMoveMark(sequelize);
  if (mark?.state === 'incoming' && mark.installation === installation) return tables;
  if (mark?.state === 'incoming')
    throw new MoveError(
      `the database ${database} is an unfinished move of another installation, from ${mark.other}; name an empty database`,
    );
  const what =
    mark?.state === 'moved'
      ? `has the data from before a move to ${mark.other}`
      : `is not empty: it has ${tables.length} tables, such as ${tables[0]}`;
  throw new MoveError(`the database ${database} ${what}; name an empty database`);
}

export async function dropTables(connection: PostgresConnection, tables: readonly string[]): Promise<void> {
  if (tables.length === 0) return;
  const names = tables.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');
  await connection.query(`DROP TABLE ${names} CASCADE`);
}

/** @throws MoveError if a server uses the database: what it writes now would be missing in the copy */
export async function refuseOtherServers(connection: PostgresConnection, database: string): Promise<void> {
  const others = await selectRows<{ address: string | null }>(
    connection,
    `SELECT DISTINCT host(client_addr) AS address FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = current_setting('application_name')
       AND pid <> pg_backend_pid()`,
  );
  if (others.length === 0) return;
  const where = others.map(({ address }) => address ?? 'this machine').join(', ');
  throw new MoveError(
    `a License Desk server on ${where} uses the database ${database}; stop all servers and commands first`,
  );
}
