// Keeps a restored database from giving out again what has been given out since the backup was made.
import { QueryTypes, type Sequelize } from 'sequelize';
import { DAY_MS } from '#server/wire/fields.ts';

/** More than will have been given out since the backup was made. */
const IDS_AHEAD = 1_000_000;
const LISTS_AHEAD = 100_000;
const SECOND_MS = 1000;

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
  return {
    /** Receivers and integrators tell events, deliveries and licenses apart by their ids. */
    async skipIds(given: HighestGiven | null): Promise<void> {
      await sequelize.query(COMPLETE_SEQUENCES);
      for (const { name, seq } of given?.ids ?? []) {
        await sequelize.query('UPDATE sqlite_sequence SET seq = max(seq, $1) WHERE name = $2', {
          bind: [seq, name],
        });
      }
      await sequelize.query('UPDATE sqlite_sequence SET seq = seq + $1', { bind: [IDS_AHEAD] });
    },
    /** Relying parties refuse a CRL whose number is not greater: the next one is built at once, far ahead. */
    async skipListNumbers(given: HighestGiven | null, now: number): Promise<void> {
      const least = Math.max(given?.listNumber ?? 0, Math.floor(now / SECOND_MS));
      await sequelize.query(
        'UPDATE revocation_lists SET number = max(number, $1) + $2, built_at = min(built_at, $3)',
        { bind: [least, LISTS_AHEAD, now - DAY_MS] },
      );
    },
    /** Triggers and views, which run SQL that no preview shows: their names and texts. */
    async listCode(): Promise<{ name: string; sql: string }[]> {
      return sequelize.query<{ name: string; sql: string }>(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')",
        { type: QueryTypes.SELECT },
      );
    },
  };
}
