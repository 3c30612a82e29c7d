// A look into a database, past the service, to see what is really there.
import { join } from 'node:path';
import { QueryTypes } from 'sequelize';
import { expect } from 'vitest';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { eventually } from './eventually.ts';

/** @param where a data directory, or the address of a PostgreSQL database */
export function databaseAt(where: string): DatabaseLocation {
  const url = where.startsWith('postgres') ? where : null;
  return { url, file: join(where, 'license-desk.db') };
}

// oxlint-disable-next-line typescript/no-explicit-any -- rows are whatever the query selects
type Rows = any[];

/** Several looks through one connection, which takes longer to open than a look does. */
async function lookInto<Result>(
  where: string,
  look: (select: (sql: string) => Promise<Rows>) => Promise<Result>,
): Promise<Result> {
  const sequelize = await connect(databaseAt(where));
  try {
    return await look((sql) => sequelize.query(sql, { type: QueryTypes.SELECT }));
  } finally {
    await sequelize.close();
  }
}

/** @param where as for `databaseAt` */
export function selectRows(where: string, sql: string): Promise<Rows> {
  return lookInto(where, (select) => select(sql));
}

/** Runs statements behind the service's back. @param where as for `databaseAt` */
export async function writeRows(where: string, ...statements: string[]): Promise<void> {
  const sequelize = await connect(databaseAt(where));
  try {
    for (const sql of statements) await sequelize.query(sql);
  } finally {
    await sequelize.close();
  }
}

/** Runs `work` while no other process can write to the SQLite database. */
export async function whileNobodyWrites(dataDir: string, work: () => Promise<void>): Promise<void> {
  const sequelize = await connect(databaseAt(dataDir));
  try {
    await createTransactions(sequelize)(work);
  } finally {
    await sequelize.close();
  }
}

/**
 * Until the dispatcher has tried all that is due, and leaves the database alone for a while. It begins with the first
 * delivery, and then takes on what a test's clock dates into the future, too.
 */
async function untilDispatched(select: (sql: string) => Promise<Rows>): Promise<void> {
  const dueSql = `SELECT id, status FROM deliveries WHERE status = 'delivering' OR (status = 'pending' AND
    (next_attempt_at <= ${Date.now()} OR NOT EXISTS (SELECT 1 FROM delivery_attempts)))`;
  await eventually(async () => expect(await select(dueSql)).toEqual([]));
}

/** What is written by the clock alone (when jobs last ran, how long the server has been up) or some time after a reply. */
const LATER = new Set(['service_marks', 'lease_clock', 'authorization_counts', 'denied_calls']);

const LAST_USES = new Set(['last_used_at', 'last_seen_at']);

/** Everything in the database of a running server, except `LATER` and when credentials and devices were last used. */
export function dumpDatabase(dataDir: string): Promise<string> {
  return lookInto(dataDir, async (select) => {
    await untilDispatched(select);
    const tables = await select(
      // What a virtual table shows is in the tables behind it.
      `SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name`,
    );
    const dump: Record<string, unknown> = {};
    for (const { name } of tables as { name: string }[])
      if (!LATER.has(name)) dump[name] = await select(`SELECT * FROM ${name}`);
    // The last ID of each table.
    const sequences = dump['sqlite_sequence'] as { name: string }[];
    dump['sqlite_sequence'] = sequences.filter(({ name }) => !LATER.has(name));
    return JSON.stringify(dump, (key, value: unknown) => (LAST_USES.has(key) ? undefined : value), 1);
  });
}
