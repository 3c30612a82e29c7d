// Replaces the content of a PostgreSQL database with that of a SQLite file, in one transaction: until it commits, the
// database has the content from before.
import { dirname } from 'node:path';
import { QueryTypes } from 'sequelize';
import { removeWhenFree, renameWhenFree } from '#server/platform/busy-files.ts';
import { syncDirectory } from '#server/platform/durable-file.ts';
import { OperatorError } from '#server/platform/operator-error.ts';
import { connect, type Database, type DatabaseLocation } from '../connect.ts';
import { outsideTransaction } from '../current-transaction.ts';
import { isEmptyDatabase, migrate } from '../migrate.ts';
import type { PostgresConnection } from '../postgres-connection.ts';
import { openSqliteFile } from '../sqlite-file.ts';
import { createTransactions } from '../transaction.ts';
import { UnusableDatabaseError } from '../unusable-database.ts';
import { completePostgres, copyRowsToPostgres } from './copy-to-postgres.ts';
import { copyToSqlite } from './copy-to-sqlite.ts';
import { inLongTransaction } from './long-transaction.ts';
import { aboutMove } from './move-error.ts';
import { refuseOtherServers, requireUsable } from './move-target.ts';
import { createSqliteFile } from './new-sqlite-file.ts';
import { NotReplacedError } from './not-replaced.ts';
import { lockTables } from './postgres-tables.ts';

const onProgress = () => {};

/** Its ID is far above all that the database has had before: the restore recorded itself there. */
const NEWEST_ENTRY = 'SELECT id, created_at FROM audit_entries ORDER BY id DESC LIMIT 1';

/** Whether an earlier call has committed. Its transaction locks the table, if it is still open. */
async function isReplaced(sequelize: Database, file: string): Promise<boolean> {
  const replacement = await openSqliteFile(file);
  try {
    const [newest] = await replacement.all<{ id: number; created_at: number }>(NEWEST_ENTRY);
    if (!newest) return false;
    const found = await sequelize.query('SELECT id FROM audit_entries WHERE id = $1 AND created_at = $2', {
      bind: [newest.id, newest.created_at],
      type: QueryTypes.SELECT,
    });
    return found.length > 0;
  } finally {
    await replacement.close();
  }
}

/**
 * Does nothing if an earlier call has replaced the content and was interrupted.
 * @param location in PostgreSQL; may be empty
 * @param file the SQLite file with the new content, with this version's schema
 * @param kept where the present content goes, as a SQLite file; replaced if it exists
 * @param onKept called once it is there, before the new content is read; nothing can change meanwhile
 * @throws NotReplacedError if the database has the content from before; the errors of `onKept`; after any other error, it
 *   is not known which content the database has
 */
export async function replacePostgres(
  location: DatabaseLocation,
  file: string,
  kept: string,
  onKept: () => Promise<void>,
): Promise<void> {
  const { host, pathname } = new URL(location.url ?? '');
  const name = `postgres://${host}${pathname}`;
  const draft = `${kept}.part`;
  const removeDraft = () => {
    for (const suffix of ['', '-wal', '-shm', '-journal']) removeWhenFree(`${draft}${suffix}`);
  };
  removeDraft();
  let isUnchanged = false;
  try {
    const sequelize = await connect(location);
    try {
      const keeps = !(await isEmptyDatabase(sequelize));
      if (keeps && (await isReplaced(sequelize, file))) return;
      isUnchanged = true;
      if (keeps) await createSqliteFile(draft);
      const replace = async (connection: PostgresConnection) => {
        await requireUsable(connection, name);
        await refuseOtherServers(connection, name);
        await migrate(sequelize, createTransactions(sequelize));
        await lockTables(connection);
        if (keeps) {
          const { signal } = new AbortController();
          await copyToSqlite({ connection, file: draft, without: [], signal, onProgress });
          renameWhenFree(draft, kept);
          syncDirectory(dirname(kept));
          // Its error says itself whether the restore is over.
          isUnchanged = false;
          await outsideTransaction(onKept);
          isUnchanged = true;
        }
        const copied = await copyRowsToPostgres({ connection, file, onProgress });
        await completePostgres([connection], copied, onProgress);
      };
      await inLongTransaction(sequelize, replace, { onCommitting: () => (isUnchanged = false) });
    } finally {
      await sequelize.close();
    }
  } catch (error) {
    const { message } = aboutMove(error, name) as Error;
    if (isUnchanged) {
      // On a full disk, the caller needs some space to record what has happened.
      removeDraft();
      throw new NotReplacedError(message, { cause: error });
    }
    if (error instanceof OperatorError) throw error;
    throw new UnusableDatabaseError(
      `the database ${name} has not confirmed the restore (${(error as Error).message}); check the database server, then start again`,
      { cause: error },
    );
  }
}
