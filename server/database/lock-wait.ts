/** Total time that a change waits for another process, thread or session that has locked the database. */
export const LOCK_WAIT_MS = 5000;
