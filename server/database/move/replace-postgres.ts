// Replaces the content of a PostgreSQL database with that of a SQLite file, in one transaction: until it commits, the
// database has the content from before.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { connect, type DatabaseLocation } from '../connect.ts';
import { isEmptyDatabase, migrate } from '../migrate.ts';
import { createTransactions } from '../transaction.ts';
import { completePostgres, copyRowsToPostgres } from './copy-to-postgres.ts';
import { copyToSqlite } from './copy-to-sqlite.ts';
import { inLongTransaction } from './long-transaction.ts';
import { aboutMove } from './move-error.ts';
import { refuseOtherServers, requireUsable } from './move-target.ts';
import { createSqliteFile } from './new-sqlite-file.ts';
import { lockTables } from './postgres-tables.ts';

const onProgress = () => {};

/**
 * @param location in PostgreSQL; may be empty
 * @param file the SQLite file with the new content, with this version's schema
 * @param kept where the present content goes, as a SQLite file; if it exists, an interrupted call has written it
 * @throws MoveError, and nothing has changed
 */
export async function replacePostgres(location: DatabaseLocation, file: string, kept: string): Promise<void> {
  const { host, pathname } = new URL(location.url ?? '');
  const name = `postgres://${host}${pathname}`;
  const draft = `${kept}.part`;
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${suffix}`, { force: true });
  try {
    const sequelize = await connect(location);
    try {
      const keeps = !existsSync(kept) && !(await isEmptyDatabase(sequelize));
      if (keeps) await createSqliteFile(draft);
      await inLongTransaction(sequelize, async (connection) => {
        await requireUsable(connection, name);
        await refuseOtherServers(connection, name);
        await migrate(sequelize, createTransactions(sequelize));
        await lockTables(connection);
        if (keeps) {
          const { signal } = new AbortController();
          await copyToSqlite({ connection, file: draft, without: [], signal, onProgress });
          renameSync(draft, kept);
        }
        const copied = await copyRowsToPostgres({ connection, file, onProgress });
        await completePostgres([connection], copied, onProgress);
      });
    } finally {
      await sequelize.close();
    }
  } catch (error) {
    throw aboutMove(error, name);
  }
}
