// Savepoints between changes that share a commit on SQLite.
import { runCompiled } from './compiled-statements.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

/**
 * The savepoints of a group: one before all changes, and one before each. They nest until the commit, because releasing
 * each would cost another turn of a thread.
 */
export function createSavepoints(connection: SqliteConnection) {
  let isOpen = false;
  let isUntouched = false;
  return {
    async begin(): Promise<void> {
      if (!isOpen) await runCompiled(connection, 'SAVEPOINT whole');
      isOpen = true;
      if (!isUntouched) await runCompiled(connection, 'SAVEPOINT change');
      isUntouched = false;
    },
    async takeBack(): Promise<void> {
      await runCompiled(connection, 'ROLLBACK TO change');
      // It still stands, with nothing behind it.
      isUntouched = true;
    },
    /** Fails if SQLite has rolled the transaction back meanwhile: a savepoint would have begun another one. */
    close: () => runCompiled(connection, 'RELEASE whole'),
  };
}
