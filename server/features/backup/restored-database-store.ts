// Keeps a restored database from giving out again what has been given out since the backup was made.
import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

/** More than will have been given out since the backup was made. */
const IDS_AHEAD = 1_000_000;

/** What the database in use before the restore has given out. */
export interface HighestGiven {
  /** The last id of each table. */
  ids: { name: string; seq: number }[];
  /** The number of the newest revocation list; 0 if there is none. */
  listNumber: number;
}

/** A table has no row there before its first insert. */
const COMPLETE_SEQUENCES = `
  INSERT INTO sqlite_sequence (name, seq)
  SELECT name, 0 FROM sqlite_master
  WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence)`;

/** SQLite only, as backups are. */
export function createRestoredDatabaseStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    /** Receivers and integrators tell events, deliveries and licenses apart by their ids. */
    async skipIds(given: HighestGiven | null): Promise<void> {
      await sql.run(COMPLETE_SEQUENCES);
      for (const { name, seq } of given?.ids ?? [])
        await sql.run('UPDATE sqlite_sequence SET seq = max(seq, $seq) WHERE name = $name', { name, seq });
      await sql.run('UPDATE sqlite_sequence SET seq = seq + $ahead', { ahead: IDS_AHEAD });
    },
    /** Triggers and views, which run SQL that no preview shows: their names and texts. */
    listCode: (): Promise<{ name: string; sql: string }[]> =>
      sql.select("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"),
  };
}
