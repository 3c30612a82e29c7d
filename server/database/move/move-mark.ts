// Marks a PostgreSQL database that servers must not use: the target of a move until the settings name it, and its source
// from then on. The mark is a separate table, which exists only as long as the mark does.
import { QueryTypes, type Sequelize } from 'sequelize';
import { driverCodeOf } from '#server/platform/driver-error.ts';
import { runOnce } from '../transaction.ts';
import { UnusableDatabaseError } from '../unusable-database.ts';
import { LOCK_NOT_AVAILABLE } from './lock-all-at-once.ts';

const MARK_TABLE = 'database_move';
/** A function of PostgreSQL, and the triggers that call it. */
const REFUSAL = 'database_moved';
/** What servers write about themselves, until they end. */
const STILL_WRITTEN = [MARK_TABLE, 'servers', 'admin_sessions', 'sign_in_codes'];

export interface MoveMark {
  /** Of the move. */
  id: string;
  /** `incoming`: rows may be missing or outdated. `moved`: the data is elsewhere. */
  state: 'incoming' | 'moved';
  /** The other database of the move, without credentials. */
  other: string;
  /** The first signing key of the installation that is moved; null if it has none. */
  installation: string | null;
  /** Epoch milliseconds. */
  since: number;
}

/** Null on SQLite, whose file gets its name at the end of a move. */
export async function findMoveMark(sequelize: Sequelize): Promise<MoveMark | null> {
  if (sequelize.getDialect() === 'sqlite') return null;
  const select = <Row extends object>(sql: string) => sequelize.query<Row>(sql, { type: QueryTypes.SELECT });
  const [table] = await select<{ present: boolean }>(
    `SELECT to_regclass('${MARK_TABLE}') IS NOT NULL AS present`,
  );
  if (table?.present !== true) return null;
  const [mark] = await select<MoveMark>(`SELECT id, state, other, installation, since FROM ${MARK_TABLE}`);
  return mark ?? null;
}

export async function setMoveMark(sequelize: Sequelize, mark: MoveMark): Promise<void> {
  await sequelize.query(
    `CREATE TABLE ${MARK_TABLE} (id TEXT PRIMARY KEY, state TEXT NOT NULL, other TEXT NOT NULL, installation TEXT,
      since BIGINT NOT NULL)`,
  );
  await sequelize.query(
    `INSERT INTO ${MARK_TABLE} (id, state, other, installation, since) VALUES ($1, $2, $3, $4, $5)`,
    { bind: [mark.id, mark.state, mark.other, mark.installation, mark.since] },
  );
  if (mark.state === 'moved') await refuseChanges(sequelize);
}

/** A server that was frozen or cut off during the move does not know of it, and must not confirm any change. */
async function refuseChanges(sequelize: Sequelize): Promise<void> {
  // The error code is that of a read-only database.
  await sequelize.query(
    `CREATE FUNCTION ${REFUSAL}() RETURNS trigger LANGUAGE plpgsql
     AS $$ BEGIN RAISE 'the data of this database was moved' USING ERRCODE = '25006'; END $$`,
  );
  const tables = await sequelize.query<{ name: string }>(
    `SELECT CAST(CAST(oid AS regclass) AS TEXT) AS name FROM pg_class
     WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r' AND relname <> ALL($1)
     ORDER BY name`,
    { bind: [STILL_WRITTEN], type: QueryTypes.SELECT },
  );
  for (const { name } of tables)
    await sequelize.query(
      `CREATE TRIGGER ${REFUSAL} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${name}
       FOR EACH STATEMENT EXECUTE FUNCTION ${REFUSAL}()`,
    );
}

async function removeMoveMark(sequelize: Sequelize): Promise<void> {
  // With its triggers.
  await sequelize.query(`DROP FUNCTION IF EXISTS ${REFUSAL}() CASCADE`);
  await sequelize.query(`DROP TABLE ${MARK_TABLE}`);
}

const dayOf = ({ since }: MoveMark) => new Date(since).toISOString().slice(0, 16).replace('T', ' ');

async function settle(sequelize: Sequelize, ownMove: string | null): Promise<void> {
  const mark = await findMoveMark(sequelize);
  if (mark === null) return;
  if (mark.id === ownMove) return removeMoveMark(sequelize);
  throw new UnusableDatabaseError(
    mark.state === 'incoming'
      ? `the database is an unfinished move from ${mark.other} (${dayOf(mark)} UTC); run \`license-desk move-database\` again, or set database_url to the database that was in use before`
      : `the data of this database was moved to ${mark.other} (${dayOf(mark)} UTC); use that database`,
  );
}

/** The move may have lost its connection while PostgreSQL committed. Its triggers lock the table until that is decided. */
async function waitForCommit(sequelize: Sequelize): Promise<void> {
  const [table] = await sequelize.query<{ present: boolean }>(
    "SELECT to_regclass('signing_keys') IS NOT NULL AS present",
    { type: QueryTypes.SELECT },
  );
  if (table?.present !== true) return;
  try {
    await sequelize.query('LOCK TABLE signing_keys IN ROW EXCLUSIVE MODE');
  } catch (error) {
    if (driverCodeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    throw new UnusableDatabaseError(
      'PostgreSQL has not ended an earlier move yet, whose connection was lost; try again in a minute',
      { cause: error },
    );
  }
}

/**
 * Removes the mark of a move that this data directory has completed or given up.
 * @param ownMove the ID of that move; null if there is none
 * @throws UnusableDatabaseError if another move has marked the database, or PostgreSQL has not ended this one
 */
export async function settleMoveMark(sequelize: Sequelize, ownMove: string | null): Promise<void> {
  if (ownMove === null || sequelize.getDialect() === 'sqlite') return settle(sequelize, ownMove);
  await runOnce(sequelize, async () => {
    await waitForCommit(sequelize);
    await settle(sequelize, ownMove);
  });
}
