// Keeps a restored database from reusing IDs that were assigned after the backup.
import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

/** More than can have been assigned since the backup. */
const IDS_AHEAD = 1_000_000;

/** The highest numbers that the database before the restore had assigned. */
export interface HighestGiven {
  /** The last ID of each table. */
  ids: { name: string; seq: number }[];
  /** The newest CRL number; 0 if there is none. */
  listNumber: number;
  /** The sequence number of the newest distrust list; 0 if there is none. */
  distrustSequence: number;
}

/** A table has no row here before its first insert. */
const COMPLETE_SEQUENCES = `
  INSERT INTO sqlite_sequence (name, seq)
  SELECT name, 0 FROM sqlite_master
  WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence)`;

/** SQLite only, like backups. */
export function createRestoredDatabaseStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    /** Receivers and integrations identify events, deliveries and licenses by ID. */
    async skipIds(given: HighestGiven | null): Promise<void> {
      await sql.run(COMPLETE_SEQUENCES);
      for (const { name, seq } of given?.ids ?? [])
        await sql.run('UPDATE sqlite_sequence SET seq = max(seq, $seq) WHERE name = $name', { name, seq });
      await sql.run('UPDATE sqlite_sequence SET seq = seq + $ahead', { ahead: IDS_AHEAD });
    },
    /** Names and texts of triggers and views. They run SQL that no preview shows. */
    listCode: (): Promise<{ name: string; sql: string }[]> =>
      sql.select("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"),
  };
}
