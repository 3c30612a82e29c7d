// A connection to PostgreSQL answers one question at a time, and the driver leaves it to the caller to wait.
import type { PostgresConnection } from './postgres-connection.ts';

const last = new WeakMap<PostgresConnection, Promise<void>>();

/** Asks when all that this connection was asked before has been answered. */
export function inTurn<Result>(connection: PostgresConnection, ask: () => Promise<Result>): Promise<Result> {
  const asked = last.get(connection)?.then(ask) ?? ask();
  last.set(
    connection,
    asked.then(
      () => {},
      () => {},
    ),
  );
  return asked;
}
