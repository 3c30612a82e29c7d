// Moves what was committed from SQLite's write-ahead log (WAL) into the database file.
import { QueryTypes, type Sequelize } from 'sequelize';
import { dialectOf } from './connect.ts';

/**
 * A committed change is already durable in the WAL, but is lost if that file is lost, for example by a copy or a
 * restore that leaves it out. SQLite checkpoints only after 1,000 pages, which takes a quiet installation weeks.
 * @param mode `PASSIVE` does not wait; `TRUNCATE` waits for readers and empties the file
 *   (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint)
 * @returns whether everything was moved; always true on PostgreSQL, which needs no checkpoint
 */
export async function checkpoint(sequelize: Sequelize, mode: 'PASSIVE' | 'TRUNCATE'): Promise<boolean> {
  if (dialectOf(sequelize) === 'postgres') return true;
  const [row] = await sequelize.query<{ busy: number; log: number; checkpointed: number }>(
    `PRAGMA wal_checkpoint(${mode})`,
    { type: QueryTypes.SELECT },
  );
  return row !== undefined && row.busy === 0 && row.log === row.checkpointed;
}
