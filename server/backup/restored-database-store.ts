// What an older state of the database must not do once it is back: give out again what has been given out since.
import { QueryTypes, type Sequelize } from 'sequelize';
import { DAY_MS } from '../platform/fields.ts';

/** More than will have been given out since the backup was made. */
const IDS_AHEAD = 1_000_000;
const LISTS_AHEAD = 100_000;
const SECOND_MS = 1000;

/** SQLite only, as backups are. */
export function createRestoredDatabaseStore(sequelize: Sequelize) {
  return {
    /**
     * Partners know events and deliveries by their ids, and pass over those that they have seen; integrators know
     * licenses by theirs.
     */
    async leaveIdsOut(): Promise<void> {
      await sequelize.query('UPDATE sqlite_sequence SET seq = seq + $1', { bind: [IDS_AHEAD] });
    },
    /** Relying parties refuse a revocation list whose number is not greater: the next one is made anew, far ahead. */
    async leaveListNumbersOut(now: number): Promise<void> {
      await sequelize.query(
        'UPDATE revocation_lists SET number = max(number, $1) + $2, built_at = min(built_at, $3)',
        { bind: [Math.floor(now / SECOND_MS), LISTS_AHEAD, now - DAY_MS] },
      );
    },
    async countLicenses(): Promise<number> {
      const [row] = await sequelize.query<{ count: number }>('SELECT count(*) AS "count" FROM licenses', {
        type: QueryTypes.SELECT,
      });
      return row?.count ?? 0;
    },
  };
}
