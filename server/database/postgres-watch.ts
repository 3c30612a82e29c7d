// Keeps a separate connection to PostgreSQL, which shows whether the database answers and what time it is there, and carries
// short messages between the servers that share it.
import { setTimeout as delay } from 'node:timers/promises';
import type { Sequelize } from 'sequelize';
import { DatabaseFaultError } from '#server/platform/database-fault.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { createPostgresGate } from './postgres-gate.ts';
import { openPostgresConnection } from './sequelize-internals.ts';
import { preciseMonotonicMs } from '#server/platform/shared-time.ts';

/** Together they bound how long a call waits for a server that has stopped answering. */
const LOOK_EVERY_MS = 500;
const ANSWER_MS = 2000;
/** Without an answer to the first look, a server does not start. A busy machine must not prevent that. */
const FIRST_ANSWER_MS = 15_000;
/**
 * PostgreSQL ends the connection when it has not heard of this server for this long. A server that is frozen or cut off
 * must not keep its locks.
 */
export const WATCH_IDLE_MS = 3000;
/** PostgreSQL carries at most 8,000 bytes. */
const MAX_MESSAGE_BYTES = 7900;
const CHANNEL = 'license_desk';

const SET_IDLE_TIMEOUT = `SET idle_session_timeout = ${WATCH_IDLE_MS}`;
/** What is written here is written again two seconds later, so it need not wait for the disk. */
const SET_LAZY_COMMIT = 'SET synchronous_commit = off';

const NOW = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS DOUBLE PRECISION) AS ms';

interface Needs {
  /** Receives each reading of the server's clock, in epoch milliseconds. @param tookMs from question to answer */
  onTime?(ms: number, tookMs: number): void;
  /** A replica carries no messages, and need not answer yet. */
  isReplica?: boolean;
}

/** Two clocks: the first stands still while the machine sleeps, the second may be set. */
interface Moment {
  monotonic: number;
  wall: number;
}

export interface Reading {
  /** When PostgreSQL was asked, in `preciseMonotonicMs` time. */
  askedAt: number;
  tookMs: number;
}

export interface PostgresWatch {
  /** @throws DatabaseFaultError `unreachable` unless the server has answered within the last seconds */
  check(): void;
  /**
   * The same, but waits for the next reading if the last one is too old: this server has been frozen.
   * @throws DatabaseFaultError `unreachable`
   */
  confirm(): Promise<void>;
  /**
   * Reads a value with each reading of the clock.
   * @param query selects it
   * @param receive called before the reading is reported; not if PostgreSQL cannot run the query
   */
  alsoRead(query: string, receive: (value: unknown) => void): void;
  /** Called after each reading of the server's clock. */
  onReading(listener: (reading: Reading) => void): void;
  /** Called when the connection is given up, which ends the locks that were taken on it. */
  onLost(listener: () => void): void;
  /** Runs a short statement on this connection, however busy the others are. @param values by number, from 1 */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Sends a text to all servers on this database, this one included. A message that cannot be sent is lost. */
  tell(message: string): void;
  /** Receives the messages of all servers, this one included. */
  onMessage(listener: (message: string) => void): void;
  end(): Promise<void>;
}

const unreachable = (ms = ANSWER_MS) =>
  new DatabaseFaultError('unreachable', `PostgreSQL has not answered for ${ms / 1000} s`);

/** Whether PostgreSQL answered with an error, and did not end the connection. */
const isRefusal = (error: unknown): boolean =>
  /^(?!08|57)[\dA-Z]{5}$/u.test(String((error as { code?: unknown }).code));

/** Rejects after `ms`. A thread that was busy meanwhile first reads what has arrived. */
async function answerWithin<Result>(ms: number, asked: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => setTimeout(() => reject(unreachable(ms)), 1), ms);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

const momentNow = (): Moment => ({ monotonic: preciseMonotonicMs(), wall: Date.now() });

function isRecent({ monotonic, wall }: Moment): boolean {
  const now = momentNow();
  return now.monotonic - monotonic < WATCH_IDLE_MS && Math.abs(now.wall - wall) < WATCH_IDLE_MS;
}

/**
 * Resolves after the first reading, or after the first failure of a replica. While PostgreSQL does not answer, calls that
 * wait for a connection or an answer fail with the fault `unreachable`, instead of waiting for a server that may be frozen.
 */
export async function watchPostgres(
  sequelize: Sequelize,
  { onTime, isReplica = false }: Needs,
): Promise<PostgresWatch> {
  const gate = createPostgresGate(sequelize);
  const listeners = new Set<(message: string) => void>();
  const readers = new Set<(reading: Reading) => void>();
  const losers = new Set<() => void>();
  let connection: PostgresConnection | null = null;
  /** A connection answers one question at a time. */
  let last: Promise<unknown> = Promise.resolve();
  let isAnswering = true;
  /** When PostgreSQL was last asked, and has answered. */
  let confirmedAt: Moment = { monotonic: -Infinity, wall: 0 };
  let nextLook = newWait();
  /** One question, so that a server that wakes up with an answer waits for no other. */
  let question = NOW;
  let receiveValue = (_value: unknown): void => {};

  function newWait() {
    const wait = Promise.withResolvers<void>();
    // Most looks have no one waiting for them.
    wait.promise.catch(() => {});
    return wait;
  }

  function endWait(failure: Error | null): void {
    if (failure) nextLook.reject(failure);
    else nextLook.resolve();
    nextLook = newWait();
  }

  function setAnswering(answers: boolean): void {
    if (answers === isAnswering) return;
    isAnswering = answers;
    if (answers) gate.open();
    else gate.close(unreachable());
  }

  async function ask(sql: string, values: readonly unknown[] = []): Promise<object[]> {
    const used = connection;
    const asked = last.then(async () => {
      if (!used || used !== connection) throw unreachable();
      return (await used.query(sql, values)).rows;
    });
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
    if (!isReplica) {
      await ask(`LISTEN ${CHANNEL}`);
      await ask(SET_LAZY_COMMIT);
    }
    // PostgreSQL 13 does not know this setting. There, its keep-alive ends the connection of a machine that is gone.
    await ask(SET_IDLE_TIMEOUT).catch(() => {});
  }

  /** @returns when PostgreSQL was asked */
  async function read(isLate: () => boolean): Promise<Moment> {
    if (!connection) await open(isLate);
    const moment = momentNow();
    const { monotonic: askedAt } = moment;
    const asked = ask(question).catch((error: unknown) =>
      isRefusal(error) ? ask(NOW) : Promise.reject(error),
    );
    const [row] = (await asked) as { ms: number; value?: unknown }[];
    if (!row) return moment;
    const tookMs = preciseMonotonicMs() - askedAt;
    if ('value' in row) receiveValue(row.value);
    onTime?.(row.ms, tookMs);
    for (const reader of readers) reader({ askedAt, tookMs });
    return moment;
  }

  function drop(): void {
    // Closing may wait for an answer that never comes.
    void connection?.end().catch(() => {});
    connection = null;
    for (const loser of losers) loser();
  }

  async function look(withinMs = ANSWER_MS): Promise<void> {
    let isLate = false;
    try {
      confirmedAt = await answerWithin(
        withinMs,
        read(() => isLate),
      );
    } catch (error) {
      isLate = true;
      drop();
      throw error;
    }
    setAnswering(true);
    endWait(null);
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
        .catch(() => {
          setAnswering(false);
          endWait(unreachable());
        });
    }
  }

  await look(isReplica ? ANSWER_MS : FIRST_ANSWER_MS).catch((error: unknown) => {
    if (!isReplica) throw error;
    setAnswering(false);
  });
  const looking = keepLooking();

  function check(): void {
    if (!isAnswering) throw unreachable();
  }

  return {
    check,
    async confirm() {
      check();
      while (!isRecent(confirmedAt)) {
        if (ending.signal.aborted) throw unreachable();
        await nextLook.promise;
      }
    },
    alsoRead(query, receive) {
      question = `${NOW}, (${query}) AS value`;
      receiveValue = receive;
    },
    onReading: (listener) => void readers.add(listener),
    onLost: (listener) => void losers.add(listener),
    async query<Row extends object>(text: string, values?: readonly unknown[]) {
      try {
        return (await ask(text, values)) as Row[];
      } catch (error) {
        throw isRefusal(error) ? error : unreachable();
      }
    },
    tell(message) {
      if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) throw new Error('the message is too long');
      if (connection) void ask('SELECT pg_notify($1, $2)', [CHANNEL, message]).catch(() => {});
    },
    onMessage: (listener) => void listeners.add(listener),
    async end() {
      ending.abort();
      await looking;
      endWait(unreachable());
      drop();
    },
  };
}
