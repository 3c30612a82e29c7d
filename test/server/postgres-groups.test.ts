// Changes that share a transaction on PostgreSQL: what one of them does wrong is its own affair, and none waits for
// another one's lock or connection.
import { existsSync } from 'node:fs';
import { DataTypes, type Model, type ModelStatic, type Optional } from 'sequelize';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import { faultOf } from '#server/platform/database-fault.ts';
import { type Sql, sqlOf } from '#server/database/sql.ts';
import { createTransactions, type RunTransaction } from '#server/database/transaction.ts';
import { ApiError } from '#server/wire/errors.ts';
import { eventually } from '../helpers/eventually.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { lastingTransaction, newPostgresDatabase, PATIENT } from '../helpers/postgres-database.ts';

interface Thing {
  id: number;
  owner: string;
  name: string;
}

interface Note {
  id: number;
  text: string;
}

interface Owner {
  id: number;
  name: string;
  things: number;
}

/** Two minutes of looks, 20 ms apart. */
const MAX_LOOKS = 6000;

const TABLES = [
  'CREATE TABLE owners (id BIGSERIAL PRIMARY KEY, name TEXT UNIQUE, things BIGINT NOT NULL DEFAULT 0)',
  'CREATE TABLE things (id BIGSERIAL PRIMARY KEY, owner TEXT NOT NULL REFERENCES owners (name), name TEXT UNIQUE)',
  'CREATE TABLE notes (id BIGSERIAL PRIMARY KEY, text TEXT NOT NULL)',
  "INSERT INTO owners (name) SELECT 'owner ' || n FROM generate_series(0, 49) n",
];

const id = () => ({ type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true });

/** One server's access to the tables. */
function accessTo(sequelize: Database, onHookError?: (error: unknown) => void) {
  const define = <Row extends { id: number }>(table: string, columns: Record<string, unknown>) =>
    sequelize.define(table, { id: id(), ...columns } as never, {
      tableName: table,
    }) as unknown as ModelStatic<Model<Row, Optional<Row, 'id'>>>;
  const sql = sqlOf(sequelize);
  const text = DataTypes.TEXT;
  const run = createTransactions(sequelize, undefined, onHookError);
  const countOf = sql.batchedFirst<string, { id: number; things: number }>({
    columns: 'id AS "id", things AS "things"',
    from: 'owners WHERE name = $name',
    values: (name) => ({ name }),
  });
  /** A change that reads the owner first, under a lock. */
  function change<Result>(
    owner: string,
    work: (found: Omit<Owner, 'name'>) => Promise<Result>,
  ): Promise<Result> {
    let found: Omit<Owner, 'name'> | null = null;
    const read = async () => {
      await sql.lock('owners', { name: owner });
      found = await countOf(owner);
    };
    const start = () => {
      if (!found) throw new ApiError('license_not_found', 'no such owner');
      return work(found);
    };
    return run(start, undefined, { first: { subject: owner, read } });
  }
  return {
    sql,
    run,
    change,
    insert: sql.insert(define<Thing>('things', { owner: text, name: text })),
    note: sql.insertLater(define<Note>('notes', { text })),
    update: sql.update(define<Owner>('owners', { name: text, things: DataTypes.BIGINT })),
  };
}

type Access = ReturnType<typeof accessTo>;

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
describe.skipIf(!hasPostgres)(`changes that share a transaction on PostgreSQL${why}`, () => {
  let url: string;
  let sequelize: Database;
  let sql: Sql;
  let run: RunTransaction;
  let here: Access;

  /** @param parameters of the URL */
  async function open(parameters = ''): Promise<Database> {
    const opened = await connect({ url: url + parameters, file: '' });
    onTestFinished(() => opened.close());
    return opened;
  }

  beforeEach(async () => {
    url = await newPostgresDatabase();
    sequelize = await connect({ url, file: '' });
    for (const table of TABLES) await sequelize.query(table);
    here = accessTo(sequelize);
    ({ sql, run } = here);
  });
  afterEach(() => sequelize.close());

  const things = async () =>
    sql.select<Thing & { transaction: string }>(
      'SELECT id AS "id", owner AS "owner", name AS "name", CAST(xmin AS TEXT) AS "transaction" FROM things ORDER BY id',
    );
  const names = async () => (await things()).map(({ name }) => name).toSorted();
  const notes = async () =>
    (await sql.select<Note>('SELECT text AS "text" FROM notes')).map(({ text }) => text).toSorted();
  const numbered = (count: number) => Array.from({ length: count }, (_, number) => number);
  const add = (number: number, name = `thing ${number}`) => here.insert({ owner: `owner ${number}`, name });
  /** 50 changes of different owners. */
  const fifty = <Result>(work: (number: number) => Promise<Result>) =>
    Promise.allSettled(numbered(50).map((number) => here.change(`owner ${number}`, () => work(number))));
  const allBut = (failing: number) =>
    numbered(50)
      .filter((number) => number !== failing)
      .map((number) => `thing ${number}`)
      .toSorted();

  const pidOf = async () => (await sql.selectFirst<{ pid: number }>('SELECT pg_backend_pid() AS "pid"'))!.pid;

  it('are written in few commits, and each gets what it wrote', async () => {
    const hooked: number[] = [];
    const ends = await fifty(async (number) => {
      const written = await add(number);
      await here.note({ text: `note ${number}` });
      afterCommit(() => hooked.push(number));
      return written;
    });
    const rows = await things();
    expect(rows).toHaveLength(50);
    for (const [number, end] of ends.entries()) {
      const row = rows.find(({ name }) => name === `thing ${number}`);
      expect(row).toMatchObject({ owner: `owner ${number}` });
      expect(end).toEqual({ status: 'fulfilled', value: row!.id });
    }
    expect(await notes()).toEqual(
      numbered(50)
        .map((number) => `note ${number}`)
        .toSorted(),
    );
    expect(hooked.toSorted((a, b) => a - b)).toEqual(numbered(50));
    expect(new Set(rows.map(({ transaction }) => transaction)).size).toBeLessThan(10);
  });

  it('ask the driver one statement at a time, as its next version demands', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    await here.change('owner 0', () =>
      Promise.all([
        add(0),
        here.sql.select('SELECT 1'),
        here.sql.select('SELECT 2'),
        here.sql.select('SELECT 3'),
      ]),
    );
    // Warnings are told in a later turn.
    await new Promise(setImmediate);
    expect(warnings.map(({ message }) => message)).toEqual([]);
  });

  it.each([0, 1, 25, 49])('leave 49 if number %i fails after it has written', async (failing) => {
    const hooked: number[] = [];
    const ends = await fifty(async (number) => {
      await add(number);
      await here.note({ text: `thing ${number}` });
      afterCommit(() => hooked.push(number));
      if (number === failing) throw new Error('not this one');
    });
    expect(ends[failing]).toMatchObject({ status: 'rejected', reason: { message: 'not this one' } });
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(49);
    expect(await names()).toEqual(allBut(failing));
    expect(await notes()).toEqual(allBut(failing));
    expect(hooked.map((number) => `thing ${number}`).toSorted()).toEqual(allBut(failing));
  });

  it('do not run twice if one is refused before it has written', async () => {
    let runs = 0;
    const ends = await fifty(async (number) => {
      runs += 1;
      if (number % 2 === 0) throw new ApiError('license_not_found', 'not this one');
      await add(number);
    });
    expect(ends.map(({ status }) => status)).toEqual(
      numbered(50).map((number) => (number % 2 === 0 ? 'rejected' : 'fulfilled')),
    );
    expect(await names()).toHaveLength(25);
    expect(runs).toBe(50);
  });

  it('leave the others if one breaks a constraint, even where the change goes on after it', async () => {
    await here.change('owner 0', () => add(0, 'taken'));
    const ends = await fifty(async (number) => {
      if (number === 3) await add(number, 'taken');
      else await add(number);
      if (number === 7) await add(number, 'taken').catch(() => {});
    });
    expect(
      ends.map(({ status }, number) => (status === 'rejected' ? number : -1)).filter((n) => n >= 0),
    ).toEqual([3, 7]);
    const kept = numbered(50).filter((number) => number !== 3 && number !== 7);
    expect(await names()).toEqual(['taken', ...kept.map((number) => `thing ${number}`)].toSorted());
  });

  it('are never confirmed if PostgreSQL has rolled them back, in a group or not', async () => {
    const careless = () =>
      sql.run("INSERT INTO things (owner, name) VALUES ('owner 0', NULL), ('nobody', NULL)").catch(() => {});
    await expect(run(careless)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('rolled back') as string,
    });
    let runs = 0;
    await run(async () => {
      runs += 1;
      if (runs === 1) await careless();
    });
    expect(runs).toBe(2);
    const ends = await fifty(async (number) => {
      await add(number);
      if (number === 49) await careless();
    });
    expect(ends[49]?.status).toBe('rejected');
    expect(await names()).toEqual(allBut(49));
  });

  it('of one owner see what those before them wrote', async () => {
    const ends = await Promise.all(
      numbered(30).map((number) =>
        here.change('owner 1', async ({ id: owner, things: count }) => {
          await add(1, `thing ${number}`);
          await here.update(owner, { things: count + 1 });
          return count;
        }),
      ),
    );
    expect(ends.toSorted((a, b) => a - b)).toEqual(numbered(30));
    expect(await things()).toHaveLength(30);
  });

  it('write what they would write alone', async () => {
    const odd = ['a\0b', 'half \uD83D', '\u2028 "quoted" \\u0000 {x}', 'ü𝄞', ''];
    for (const [number, name] of odd.entries()) await run(() => add(number, `${name} x`));
    const alone = (await things()).map(({ name }) => name);
    await run(() => sql.run('DELETE FROM things'));
    await Promise.all(
      odd.map((name, number) => here.change(`owner ${number}`, () => add(number, `${name} x`))),
    );
    expect(await names()).toEqual(alone.toSorted());
  });

  it('do not wait for a row that is locked elsewhere', async () => {
    here = accessTo(await open(PATIENT));
    const lock = await lastingTransaction(
      await open(),
      "SELECT 1 FROM owners WHERE name = 'owner 5' FOR UPDATE",
    );
    const ended = new Set<number>();
    const waiting = [5, 5, 5].map((number, index) =>
      here.change(`owner ${number}`, () => add(number, `waited ${index}`)),
    );
    const others = numbered(50).filter((number) => number !== 5);
    await Promise.all(
      others.map(async (number) => {
        await here.change(`owner ${number}`, () => add(number));
        ended.add(number);
      }),
    );
    expect(await names()).toEqual(allBut(5));
    await lock.rollback();
    await Promise.all(waiting);
    expect(await names()).toEqual([...allBut(5), 'waited 0', 'waited 1', 'waited 2'].toSorted());
  });

  it('that wait for locked rows leave connections to all others', async () => {
    here = accessTo(await open(PATIENT));
    const locked = numbered(30);
    const other = await open();
    const lock = await lastingTransaction(other, 'SELECT 1 FROM owners WHERE id <= 30 FOR UPDATE');
    const waiting = locked.map((number) => here.change(`owner ${number}`, () => add(number)));
    const countWaiting = async () => {
      const [rows] = await other.query(
        `SELECT CAST(count(*) AS INTEGER) AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return (rows as { count: number }[])[0]!.count;
    };
    await eventually(async () => expect(await countWaiting()).toBe(4));
    for (let number = 30; number < 50; number += 1) await here.change(`owner ${number}`, () => add(number));
    expect(await countWaiting()).toBeLessThanOrEqual(4);
    await lock.rollback();
    await Promise.all(waiting);
    expect(await names()).toEqual(
      numbered(50)
        .map((number) => `thing ${number}`)
        .toSorted(),
    );
  });

  it('stand, and those with them, if what one of them does after the commit fails', async () => {
    const errors: unknown[] = [];
    const noted = accessTo(sequelize, (error) => errors.push(error));
    const hooked: number[] = [];
    const ends = await Promise.all(
      numbered(50).map((number) =>
        noted.change(`owner ${number}`, async () => {
          await add(number);
          if (number === 7)
            afterCommit(() => {
              throw new Error('after the commit');
            });
          afterCommit(() => hooked.push(number));
          return number;
        }),
      ),
    );
    expect(ends).toEqual(numbered(50));
    expect(hooked.toSorted((a, b) => a - b)).toEqual(numbered(50));
    expect(await things()).toHaveLength(50);
    expect(errors).toMatchObject([{ message: 'after the commit' }]);
    await noted.run(async () => {
      afterCommit(() => {
        throw new Error('alone');
      });
    });
    expect(errors).toMatchObject([{ message: 'after the commit' }, { message: 'alone' }]);
  });

  it('are all refused, once, when the table that they write stays locked', async () => {
    const lock = await lastingTransaction(await open(), 'LOCK TABLE things IN SHARE MODE');
    let runs = 0;
    const ends = await fifty((number) => {
      runs += 1;
      return add(number);
    });
    const faults = ends.map((end) => end.status === 'rejected' && faultOf(end.reason));
    expect(faults).toEqual(numbered(50).map(() => 'busy'));
    expect(runs).toBe(50);
    await lock.rollback();
    await fifty(add);
    expect(await things()).toHaveLength(50);
  });

  it('of two servers neither deadlock nor lose a change', async () => {
    const there = accessTo(await open());
    const OWNERS = 10;
    const CHANGES = 300;
    const changes = [here, there].flatMap(({ change, update, note }, server) =>
      numbered(CHANGES).map((number) =>
        // In opposite orders.
        change(`owner ${(server === 0 ? number : CHANGES - number) % OWNERS}`, async (owner) => {
          await note({ text: `${server} ${number}` });
          await update(owner.id, { things: owner.things + 1 });
        }),
      ),
    );
    await Promise.all(changes);
    const [counted] = await sql.select<{ sum: number }>(
      'SELECT CAST(sum(things) AS BIGINT) AS "sum" FROM owners',
    );
    expect(counted?.sum).toBe(2 * CHANGES);
    expect(new Set(await notes()).size).toBe(2 * CHANGES);
    const [database] = await sql.select<{ deadlocks: number }>(
      'SELECT deadlocks AS "deadlocks" FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(database?.deadlocks).toBe(0);
  });

  it('may change the same row', async () => {
    const owner = (await sql.selectFirst<{ id: number }>(
      'SELECT id AS "id" FROM owners WHERE name = \'owner 0\'',
    ))!;
    await fifty((number) => here.update(owner.id, { things: number }));
    const after = await sql.selectFirst<{ things: number }>(
      'SELECT things AS "things" FROM owners WHERE id = $id',
      owner,
    );
    expect(numbered(50)).toContain(after?.things);
  });

  describe('whose thread was busy for so long that PostgreSQL has ended their session', () => {
    /** PostgreSQL's last word arrives after the next question. */
    async function beBusy(): Promise<void> {
      const session = `/proc/${await pidOf()}`;
      await sql.run('SET LOCAL idle_in_transaction_session_timeout = 50');
      const nothing = new Int32Array(new SharedArrayBuffer(4));
      for (let look = 0; look < MAX_LOOKS && existsSync(session); look += 1) Atomics.wait(nothing, 0, 0, 20);
    }

    const WAYS = [
      ['alone', (work: () => Promise<void>) => run(work)],
      ['in a group', (work: () => Promise<void>) => here.change('owner 0', work)],
    ] as const;

    it.each(WAYS)('run again, %s', async (_way, change) => {
      let runs = 0;
      await change(async () => {
        runs += 1;
        await add(0);
        if (runs > 1) return;
        await beBusy();
        await sql.select('SELECT 1');
      });
      expect(runs).toBe(2);
      expect(await names()).toEqual(['thing 0']);
    });

    it.each(WAYS)(
      'are refused like those whose connection was lost, before the commit, %s',
      async (_way, change) => {
        const refused = change(async () => {
          await add(0);
          await beBusy();
        });
        await expect(refused).rejects.toSatisfy((error) => faultOf(error) === 'unreachable');
        expect(await names()).toEqual([]);
      },
    );
  });

  describe('on a connection that hangs', () => {
    /** @returns lets it go on */
    function freeze(pid: number): () => void {
      process.kill(pid, 'SIGSTOP');
      let isFrozen = true;
      const thaw = () => {
        if (isFrozen) process.kill(pid, 'SIGCONT');
        isFrozen = false;
      };
      onTestFinished(thaw);
      return thaw;
    }

    it('go on on another one', async () => {
      const thaw = freeze(await pidOf());
      const ends = await fifty(add);
      expect(ends.map(({ status }) => status)).toEqual(numbered(50).map(() => 'fulfilled'));
      expect(await names()).toHaveLength(50);
      // Else the end would wait for it.
      thaw();
    });

    it('fail after a while, and those after them do not wait for that', async () => {
      let thaw = () => {};
      const isFrozen = Promise.withResolvers<void>();
      const hung = here.change('owner 0', async () => {
        thaw = freeze(await pidOf());
        isFrozen.resolve();
        await add(0);
      });
      const failing = expect(hung).rejects.toSatisfy((error) => faultOf(error) === 'busy');
      await isFrozen.promise;
      const others = numbered(50).filter((number) => number !== 0);
      await Promise.all(others.map((number) => here.change(`owner ${number}`, () => add(number))));
      // Its connection is given up, but PostgreSQL does not know and keeps its lock.
      await failing;
      thaw();
      await here.change('owner 0', () => add(0));
      expect(await names()).toEqual(
        numbered(50)
          .map((number) => `thing ${number}`)
          .toSorted(),
      );
    });

    it('are confirmed after a commit that takes longer than that', async () => {
      await sequelize.query(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM set_config('lock_timeout', '0', TRUE), pg_advisory_xact_lock_shared(1);
        RETURN NULL;
      END $$`);
      await sequelize.query(`CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON things DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.name = 'slow') EXECUTE FUNCTION wait()`);
      const lock = await lastingTransaction(await open(), 'SELECT pg_advisory_xact_lock(1)');
      const slow = here.change('owner 0', () => add(0, 'slow'));
      let hasEnded = false;
      void Promise.allSettled([slow]).then(() => (hasEnded = true));
      await eventually(async () =>
        expect(
          await sql.select("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
        ).toHaveLength(1),
      );
      // Another connection is given up meanwhile.
      let thaw = () => {};
      const hung = here.change('owner 1', async () => {
        thaw = freeze(await pidOf());
        await add(1);
      });
      await expect(hung).rejects.toSatisfy((error) => faultOf(error) === 'busy');
      thaw();
      expect(hasEnded).toBe(false);
      await lock.rollback();
      await slow;
      expect(await names()).toEqual(['slow']);
    });

    it('do not delay look-ups, nor does a look-up that hangs itself', async () => {
      const find = sql.batched<string, { name: string }>({
        columns: 'name AS "name"',
        from: 'owners WHERE name = $name',
        values: (name) => ({ name }),
      });
      freeze(await pidOf());
      const answered: string[] = [];
      const look = async (name: string) => answered.push((await find(name))!.name);
      // The only connection of the pool.
      const hung = look('owner 0');
      await new Promise(setImmediate);
      await Promise.all(numbered(100).map((number) => look(`owner ${(number % 49) + 1}`)));
      expect(answered).not.toContain('owner 0');
      await hung;
      expect(answered).toContain('owner 0');
    });
  });
});
