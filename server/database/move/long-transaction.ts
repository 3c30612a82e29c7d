// Work on PostgreSQL over a whole database, which no time limit ends.
import type { Sequelize } from 'sequelize';
import { currentTransaction } from '../current-transaction.ts';
import type { PostgresConnection } from '../postgres-connection.ts';
import { openPostgresConnection, postgresConnectionOf } from '../sequelize-internals.ts';
import { runOnce } from '../transaction.ts';

const SETTINGS = [
  ['statement_timeout', '0'],
  ['lock_timeout', '0'],
  ['idle_in_transaction_session_timeout', '0'],
  // Without this, the statement of a process that was killed runs on, with its locks.
  ['client_connection_check_interval', '1000'],
] as const;

async function configure(connection: PostgresConnection, scope: 'LOCAL' | 'SESSION'): Promise<void> {
  for (const [name, value] of SETTINGS) await connection.query(`SET ${scope} ${name} = ${value}`);
}

interface Options {
  /** Whether everything is read as it was at one point in time. */
  isSnapshot?: boolean;
  /** Called before the commit. From here on, only PostgreSQL knows whether anything was changed. */
  onCommitting?(): void;
}

/** One transaction. What uses `sequelize` in `work` takes part, too. */
export function inLongTransaction<Result>(
  sequelize: Sequelize,
  work: (connection: PostgresConnection) => Promise<Result>,
  { isSnapshot = false, ...options }: Options = {},
): Promise<Result> {
  const onConnection = async () => {
    const transaction = currentTransaction();
    if (!transaction) throw new Error('there is no transaction');
    const connection = postgresConnectionOf(transaction);
    if (isSnapshot) await connection.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await configure(connection, 'LOCAL');
    return work(connection);
  };
  return runOnce(sequelize, onConnection, options);
}

export type Connections = readonly [PostgresConnection, ...PostgresConnection[]];

/** Several connections outside the pool, for work that needs no common transaction. */
export async function onLongConnections(
  sequelize: Sequelize,
  count: number,
  work: (connections: Connections) => Promise<void>,
): Promise<void> {
  const opened: PostgresConnection[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      const connection = await openPostgresConnection(sequelize);
      // A statement that waits for an answer fails with the loss of its connection.
      connection.on('error', () => {});
      opened.push(connection);
      await configure(connection, 'SESSION');
    }
    await work(opened as unknown as Connections);
  } finally {
    for (const connection of opened) await connection.end().catch(() => {});
  }
}
