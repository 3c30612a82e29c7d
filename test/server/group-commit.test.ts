// Changes that share a commit on SQLite: what one of them does wrong is its own affair.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchRows } from '#server/database/changed-rows.ts';
import { connect, type Database } from '#server/database/connect.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import { faultOf } from '#server/platform/database-fault.ts';
import { type Sql, sqlOf } from '#server/database/sql.ts';
import { createTransactions, type RunTransaction } from '#server/database/transaction.ts';
import { ApiError } from '#server/wire/errors.ts';
import { newDataDir } from '../helpers/test-server.ts';

let file: string;
let sequelize: Database;
let sql: Sql;
let transaction: RunTransaction;
/** Texts that the writer's connection ran. */
let commits: number;

beforeEach(async () => {
  file = join(await newDataDir(), 'group.db');
  sequelize = await connect({ url: null, file }, { create: true });
  await sequelize.query('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE)');
  sql = sqlOf(sequelize);
  transaction = createTransactions(sequelize);
  commits = 0;
  // Every commit of these tests changes a row, and is reported once.
  const counted = { table: 'things', key: 'id', columns: ['name'], inserts: true } as const;
  await watchRows(sequelize, [counted], { beforeCommit: () => (commits += 1), afterCommit: () => {} });
  commits = 0;
});
afterEach(() => sequelize.close());

const insert = (name: string) => sql.statement('INSERT INTO things (name) VALUES ($name)').run({ name });
const insertAlone = (name: string) => transaction(() => insert(name));
const names = async () =>
  (await sql.select<{ name: string }>('SELECT name AS "name" FROM things ORDER BY id')).map(
    ({ name }) => name,
  );
const numbered = (count: number) => Array.from({ length: count }, (_, number) => `thing ${number}`);

describe('50 changes at once', () => {
  it('are written in their order, in few commits, and confirmed in that order', async () => {
    const confirmed: string[] = [];
    const hooked: string[] = [];
    await Promise.all(
      numbered(50).map(async (name) => {
        await transaction(async () => {
          await insert(name);
          afterCommit(() => hooked.push(name));
        });
        confirmed.push(name);
      }),
    );
    expect(await names()).toEqual(numbered(50));
    expect(confirmed).toEqual(numbered(50));
    expect(hooked).toEqual(numbered(50));
    expect(commits).toBeLessThan(50);
  });

  it.each([0, 1, 25, 48, 49])('leave 49 if number %i fails after it has written', async (failing) => {
    const hooked: string[] = [];
    const ends = await Promise.allSettled(
      numbered(50).map((name, number) =>
        transaction(async () => {
          await insert(name);
          afterCommit(() => hooked.push(name));
          if (number === failing) throw new Error('not this one');
          return number;
        }),
      ),
    );
    const others = numbered(50).filter((_, number) => number !== failing);
    expect(ends[failing]).toMatchObject({ status: 'rejected', reason: { message: 'not this one' } });
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(49);
    expect(await names()).toEqual(others);
    expect(hooked).toEqual(others);
  });

  it('do not run twice if one is refused before it has written', async () => {
    let runs = 0;
    const ends = await Promise.allSettled(
      numbered(50).map((name, number) =>
        transaction(async () => {
          runs += 1;
          await names();
          if (number % 2 === 0) throw new ApiError('license_not_found', 'not this one');
          await insert(name);
        }),
      ),
    );
    expect(ends.map(({ status }) => status)).toEqual(
      numbered(50).map((_, number) => (number % 2 === 0 ? 'rejected' : 'fulfilled')),
    );
    expect(await names()).toHaveLength(25);
    expect(runs).toBe(50);
  });

  it('are not carried out after they have been refused, when the one that they gave way to is gone', async () => {
    let isGone = false;
    const ends = await Promise.allSettled([
      transaction(() => insert('first'), { isGone: () => isGone }),
      transaction(async () => {
        if ((await names()).length > 0) throw new ApiError('activation_limit_reached', 'no seat is left');
        await insert('second');
      }),
      transaction(async () => {
        await insert('third');
        isGone = true;
        throw new Error('all have to run again');
      }),
    ]);
    await transaction(() => insert('last'));
    const isConfirmed = (number: number) => ends[number]?.status === 'fulfilled';
    expect(isConfirmed(0)).toBe(false);
    expect(await names()).toEqual([...(isConfirmed(1) ? ['second'] : []), 'last']);
  });

  it('are not refused for what never stood, when the commit fails', async () => {
    await sequelize.query(
      'CREATE TABLE children (id INTEGER REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)',
    );
    const ends = await Promise.allSettled([
      transaction(() => insert('before')),
      transaction(async () => {
        await insert('first');
        // Only the commit finds out.
        await sql.run('INSERT INTO children (id) VALUES (1000)');
      }),
      transaction(async () => {
        if ((await names()).includes('first'))
          throw new ApiError('activation_limit_reached', 'no seat is left');
      }),
    ]);
    expect(await names()).not.toContain('first');
    expect(ends[2]).not.toMatchObject({ reason: { code: 'activation_limit_reached' } });
  });

  it('leave every second if the others break a constraint', async () => {
    const ends = await Promise.allSettled(
      numbered(50).map((name, number) =>
        transaction(async () => {
          await insert(`${name} first`);
          await insert(number % 2 === 0 ? name : 'thing 0');
        }),
      ),
    );
    expect(ends.map(({ status }) => status === 'fulfilled')).toEqual(
      numbered(50).map((_, number) => number % 2 === 0),
    );
    expect(await names()).toHaveLength(50);
  });

  it('see what those before them wrote', async () => {
    const counts = await Promise.all(
      numbered(50).map((name) =>
        transaction(async () => {
          await insert(name);
          return (await names()).length;
        }),
      ),
    );
    expect(counts).toEqual(numbered(50).map((_, number) => number + 1));
  });

  it('are all refused, and leave nothing, if their commit fails', async () => {
    await transaction(() => insert('before'));
    await sequelize.query('CREATE TABLE parents (id INTEGER PRIMARY KEY)');
    await sequelize.query(
      'CREATE TABLE children (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)',
    );
    const ends = await Promise.allSettled(
      numbered(20).map((name, number) =>
        transaction(async () => {
          await insert(name);
          // Only the commit finds out.
          if (number === 3) await sql.run('INSERT INTO children (id) VALUES (1)');
        }),
      ),
    );
    const confirmed = ends.map(({ status }) => status === 'fulfilled');
    expect(confirmed[3]).toBe(false);
    expect(await names()).toEqual(['before', ...numbered(20).filter((_, number) => confirmed[number])]);
    await transaction(() => insert('after'));
    expect((await names()).at(-1)).toBe('after');
  });
});

describe('a full disk', () => {
  /** The database may not grow beyond so many pages: SQLite then fails as it does on a full disk. */
  const limitPages = (count: number) => transaction(() => sql.run(`PRAGMA max_page_count = ${count}`));

  it.each([1, 7, 20])('refuses changes cleanly, %i at once', async (count) => {
    await transaction(() => insert('before'));
    await limitPages(30);
    const ends = await Promise.allSettled(
      numbered(count * 5).map((name) =>
        transaction(async () => {
          await insert(name);
          await insert(`${name} ${'x'.repeat(20_000)}`);
        }),
      ),
    );
    const isConfirmed = ends.map(({ status }) => status === 'fulfilled');
    const kept = numbered(count * 5).filter((_, number) => isConfirmed[number]);
    expect((await names()).filter((name) => name.length < 100)).toEqual(['before', ...kept]);
    expect((await names()).filter((name) => name.length > 100)).toHaveLength(kept.length);
    const refused = ends.filter((end) => end.status === 'rejected');
    if (count > 1) expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused) expect(faultOf(reason)).toBe('full');
    await limitPages(1_000_000);
    await transaction(() => insert('after'));
    expect((await names()).at(-1)).toBe('after');
  });
});

it('never confirms what SQLite has rolled back unnoticed', async () => {
  await transaction(() => insert('before'));
  const careless = (name: string) =>
    transaction(async () => {
      await insert(name);
      // Takes back the whole transaction, with all changes in it.
      await sql.run("INSERT OR ROLLBACK INTO things (name) VALUES ('before')").catch(() => {});
    });
  const changes = [careless, insertAlone, insertAlone, careless, insertAlone, insertAlone, careless];
  const ends = await Promise.allSettled(changes.map((change, number) => change(`thing ${number}`)));
  const kept = numbered(changes.length).filter((_, number) => ends[number]?.status === 'fulfilled');
  expect(await names()).toEqual(['before', ...kept]);
  expect(ends.map(({ status }, number) => changes[number] === careless && status)).not.toContain('fulfilled');
});

describe('a change', () => {
  it('joins the one that it is part of', async () => {
    await expect(
      transaction(async () => {
        await insert('outer');
        await transaction(() => insert('inner'));
        throw new Error('both or none');
      }),
    ).rejects.toThrow('both or none');
    expect(await names()).toEqual([]);
    await transaction(async () => {
      await insert('outer');
      await transaction(() => insert('inner'));
    });
    expect(await names()).toEqual(['outer', 'inner']);
  });

  it('may use savepoints', async () => {
    const change = (name: string) =>
      transaction(async () => {
        await insert(name);
        await sql.run('SAVEPOINT own');
        await insert(`${name}, taken back`);
        await sql.run('ROLLBACK TO own');
        await sql.run('RELEASE own');
      });
    await Promise.all(numbered(5).map(change));
    expect(await names()).toEqual(numbered(5));
  });

  it('that runs alone shares its commit with no other', async () => {
    const held = Promise.withResolvers<void>();
    const confirmed: string[] = [];
    const run = (name: string, work: () => Promise<unknown>, alone = false) =>
      transaction(work, undefined, { alone }).then(() => confirmed.push(name));
    const all = [
      run('first', () => insert('first')),
      run('second', () => insert('second')),
      run('long', () => held.promise, true),
      run('third', () => insert('third')),
    ];
    await Promise.all(all.slice(0, 2));
    expect(confirmed).toEqual(['first', 'second']);
    held.resolve();
    await Promise.all(all);
    expect(confirmed).toEqual(['first', 'second', 'long', 'third']);
  });
});
