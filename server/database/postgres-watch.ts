// Keeps a separate connection to PostgreSQL, which shows whether the database answers and what time it is there, and carries
// short messages between the servers that share it.
import { setTimeout as delay } from 'node:timers/promises';
import type { Sequelize } from 'sequelize';
import { DatabaseFaultError } from './database-fault.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { createPostgresGate } from './postgres-gate.ts';
import { openPostgresConnection } from './sequelize-internals.ts';

/** Together they bound how long a call waits for a server that has stopped answering. */
const LOOK_EVERY_MS = 500;
const ANSWER_MS = 2000;
/** PostgreSQL carries at most 8,000 bytes. */
const MAX_MESSAGE_BYTES = 7900;
const CHANNEL = 'license_desk';

const NOW = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS DOUBLE PRECISION) AS ms';

interface Needs {
  /** Receives each reading of the server's clock, in epoch milliseconds. @param tookMs from question to answer */
  onTime(ms: number, tookMs: number): void;
}

export interface PostgresWatch {
  /** @throws DatabaseFaultError `unreachable` unless the server has answered within the last seconds */
  check(): void;
  /** Called after each reading of the server's clock. */
  onReading(listener: () => void): void;
  /** Sends a text to all servers on this database, this one included. A message that cannot be sent is lost. */
  tell(message: string): void;
  /** Receives the messages of all servers, this one included. */
  onMessage(listener: (message: string) => void): void;
  end(): Promise<void>;
}

const unreachable = () =>
  new DatabaseFaultError('unreachable', `PostgreSQL has not answered for ${ANSWER_MS / 1000} s`);

/** Rejects after `ms`. A thread that was busy meanwhile first reads what has arrived. */
async function answerWithin<Result>(ms: number, asked: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => setTimeout(() => reject(unreachable()), 1), ms);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves after the first reading. While PostgreSQL does not answer, calls that wait for a connection or an answer fail
 * with the fault `unreachable`, instead of waiting for a server that may be frozen.
 */
export async function watchPostgres(sequelize: Sequelize, { onTime }: Needs): Promise<PostgresWatch> {
  const gate = createPostgresGate(sequelize);
  const listeners = new Set<(message: string) => void>();
  const readers = new Set<() => void>();
  let connection: PostgresConnection | null = null;
  /** A connection answers one question at a time. */
  let last: Promise<unknown> = Promise.resolve();
  let isAnswering = true;

  function setAnswering(answers: boolean): void {
    if (answers === isAnswering) return;
    isAnswering = answers;
    if (answers) gate.open();
    else gate.close(unreachable());
  }

  async function ask(sql: string, values: readonly unknown[] = []): Promise<object[]> {
    const asked = last.then(async () => (await connection?.query(sql, values))?.rows ?? []);
    last = asked.catch(() => {});
    return asked;
  }

  /** @param isLate whether the caller has given up */
  async function open(isLate: () => boolean): Promise<void> {
    const opened = await openPostgresConnection(sequelize);
    if (isLate()) return opened.end();
    connection = opened;
    // What an earlier connection was asked may never be answered.
    last = Promise.resolve();
    opened.on('notification', ({ payload }) => {
      for (const listener of listeners) listener(payload ?? '');
    });
    // The next look finds it closed.
    opened.on('error', () => {});
    await ask(`LISTEN ${CHANNEL}`);
  }

  async function read(isLate: () => boolean): Promise<void> {
    if (!connection) await open(isLate);
    const askedAt = performance.now();
    const [row] = (await ask(NOW)) as { ms: number }[];
    if (!row) return;
    onTime(row.ms, performance.now() - askedAt);
    for (const reader of readers) reader();
  }

  function drop(): void {
    // Closing may wait for an answer that never comes.
    void connection?.end().catch(() => {});
    connection = null;
  }

  async function look(): Promise<void> {
    let isLate = false;
    try {
      await answerWithin(
        ANSWER_MS,
        read(() => isLate),
      );
    } catch (error) {
      isLate = true;
      drop();
      throw error;
    }
    setAnswering(true);
  }

  const ending = new AbortController();

  async function keepLooking(): Promise<void> {
    while (!ending.signal.aborted) {
      // Rejects at the end.
      await delay(LOOK_EVERY_MS, undefined, { signal: ending.signal, ref: false }).catch(() => {});
      if (ending.signal.aborted) return;
      await look()
        // After a lost connection, a second attempt decides.
        .catch((error: unknown) => (error instanceof DatabaseFaultError ? Promise.reject(error) : look()))
        .catch(() => setAnswering(false));
    }
  }

  await look();
  const looking = keepLooking();

  return {
    check() {
      if (!isAnswering) throw unreachable();
    },
    onReading: (listener) => void readers.add(listener),
    tell(message) {
      if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) throw new Error('the message is too long');
      if (connection) void ask('SELECT pg_notify($1, $2)', [CHANNEL, message]).catch(() => {});
    },
    onMessage: (listener) => void listeners.add(listener),
    async end() {
      ending.abort();
      await looking;
      drop();
    },
  };
}
