// Decides whether calls may use the connections to PostgreSQL. Closed, all calls fail: those that come, those that wait for
// a connection, and those that wait for an answer.
import type { Sequelize } from 'sequelize';
import type { PostgresConnection } from './postgres-connection.ts';
import { wrapGetConnection } from './sequelize-internals.ts';

export interface PostgresGate {
  /** @param reason what calls without a connection fail with; the others fail with the loss of theirs */
  close(reason: Error): void;
  open(): void;
}

export function createPostgresGate(sequelize: Sequelize): PostgresGate {
  const connections = new Set<PostgresConnection>();
  const waiting = new Set<(reason: Error) => void>();
  let closedBy: Error | null = null;

  /** All that calls have used, until they are closed. */
  function remember(connection: PostgresConnection): PostgresConnection {
    if (!connections.has(connection)) {
      connections.add(connection);
      connection.on('end', () => connections.delete(connection));
    }
    return connection;
  }

  wrapGetConnection(sequelize, (acquire, release) => {
    if (closedBy) throw closedBy;
    return new Promise((resolve, reject) => {
      waiting.add(reject);
      acquire().then(
        (connection) => (waiting.delete(reject) ? resolve(remember(connection)) : release(connection)),
        (error: unknown) => {
          waiting.delete(reject);
          reject(error as Error);
        },
      );
    });
  });

  return {
    close(reason) {
      closedBy = reason;
      for (const reject of waiting) reject(reason);
      waiting.clear();
      for (const connection of connections) void connection.end().catch(() => {});
      connections.clear();
    },
    open() {
      closedBy = null;
    },
  };
}
