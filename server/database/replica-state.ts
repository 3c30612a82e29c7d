// Whether a database is a usable replica of another one.
import { driverCodeOf } from '#server/platform/driver-error.ts';
import { MIGRATIONS_TABLE } from './migrate.ts';

/** `behind`: it has not applied what this server has written within the allowed time. */
export type ReplicaProblem = 'unreachable' | 'not_replica' | 'other_database' | 'other_schema' | 'behind';

export const REPLICA_MESSAGES: Record<ReplicaProblem, string> = {
  unreachable: 'the replica does not answer',
  not_replica: 'the database at replica_database_url is not a replica',
  other_database: 'the replica follows another database',
  other_schema: 'the replica does not have the schema of this version',
  behind: 'the replica is too far behind',
};

/** Runs a statement on one of the two. @param values by number, from 1 */
export type AskPostgres = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

interface Identity {
  isReplica: boolean;
  /** The same on a database and all of its replicas, and on no other database. */
  name: string;
}

const IDENTITY = `
  SELECT pg_is_in_recovery() AS "isReplica",
    concat(s.system_identifier, ' ', d.oid) AS "name"
  FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()`;

const HAS_SCHEMA = `SELECT 1 AS "has" FROM ${MIGRATIONS_TABLE} WHERE name = $1`;

const UNDEFINED_TABLE = '42P01';

/** The migration arrives at a replica a moment after the database itself has it. */
async function hasSchema(ask: AskPostgres, schema: string): Promise<boolean> {
  try {
    return (await ask(HAS_SCHEMA, [schema])).length > 0;
  } catch (error) {
    if (driverCodeOf(error) === UNDEFINED_TABLE) return false;
    throw error;
  }
}

interface Pair {
  primary: AskPostgres;
  replica: AskPostgres;
}

/** @param schema the migration that it must have applied @returns null if it can be used */
export async function findReplicaProblem(
  { primary, replica }: Pair,
  schema: string,
): Promise<ReplicaProblem | null> {
  const [found] = await replica<Identity>(IDENTITY);
  if (!found?.isReplica) return 'not_replica';
  const [own] = await primary<Identity>(IDENTITY);
  if (found.name !== own?.name) return 'other_database';
  return (await hasSchema(replica, schema)) ? null : 'other_schema';
}
