// The one way to hand-written SQL, over a separate database.
import { globSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { type Sql, sqlOf } from '#server/database/sql.ts';
import { createTransactions, type RunTransaction } from '#server/database/transaction.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase } from '../helpers/postgres-database.ts';
import { newDataDir } from '../helpers/test-server.ts';

interface Thing {
  id: number;
  name: string;
}

describe.each(['SQLite', 'PostgreSQL'])('SQL on %s', (name) => {
  const isMissing = name === 'PostgreSQL' && !hasPostgres;
  let folder: string;
  let sequelize: Database;
  let sql: Sql;
  let transaction: RunTransaction;

  beforeAll(async () => {
    if (isMissing) return;
    folder = await newDataDir();
    sequelize = await connect(
      { url: name === 'PostgreSQL' ? await newPostgresDatabase() : null, file: join(folder, 'things.db') },
      { create: true },
    );
    sql = sqlOf(sequelize);
    transaction = createTransactions(sequelize);
    await sql.run('CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT NOT NULL)');
    for (const id of [1, 2, 3])
      await sql.run('INSERT INTO things (id, name) VALUES ($id, $name)', { id, name: `thing ${id}` });
  });
  afterAll(async () => {
    if (isMissing) return;
    await sequelize.close();
    await rm(folder, { recursive: true, force: true });
  });

  const BY_NAME =
    'SELECT id AS "id", name AS "name" FROM things WHERE name = $name AND (id > $id OR name = $name)';

  it.skipIf(isMissing)('binds values by name, in any order, more than once, and ignores others', async () => {
    const values = { other: 'unused', id: 9, name: 'thing 2' };
    const found = [{ id: 2, name: 'thing 2' }];
    expect(await sql.select<Thing>(BY_NAME, values)).toEqual(found);
    expect(await sql.statement<Thing>(BY_NAME).all(values)).toEqual(found);
  });

  it.skipIf(isMissing)('gives null where there is no first row', async () => {
    const values = { id: 9, name: 'nothing' };
    expect(await sql.selectFirst(BY_NAME, values)).toBeNull();
    expect(await sql.statement(BY_NAME).first(values)).toBeNull();
  });

  it.skipIf(isMissing)('refuses a statement without one of its values', () => {
    const refusal = 'the statement names $id, which has no value';
    expect(() => sql.select(BY_NAME, { name: 'thing 2' })).toThrow(refusal);
    expect(() => sql.statement(BY_NAME).all({ name: 'thing 2', id: undefined })).toThrow(refusal);
  });

  it.skipIf(isMissing)('takes a list as one value', async () => {
    const text = `SELECT id AS "id" FROM things WHERE ${sql.dialect.isIn('id', 'ids')} ORDER BY id`;
    expect(await sql.select(text, { ids: [3, 1, 9] })).toEqual([{ id: 1 }, { id: 3 }]);
    expect(await sql.select(text, { ids: [] })).toEqual([]);
  });

  it.skipIf(isMissing)('counts the rows that a statement changed', async () => {
    const text = 'UPDATE things SET name = name WHERE id > $id';
    expect(await sql.run(text, { id: 1 })).toBe(2);
    expect(await sql.statement(text).run({ id: 9 })).toBe(0);
  });

  it.skipIf(isMissing)('joins the transaction that the caller is in', async () => {
    const count = sql.statement<{ count: number }>('SELECT count(*) AS "count" FROM things');
    const undone = transaction(async () => {
      await sql.lock('things', { id: 1 });
      await sql.run('DELETE FROM things WHERE id = $id', { id: 1 });
      expect(await count.first()).toEqual({ count: 2 });
      expect(await sql.selectFirst('SELECT count(*) AS "count" FROM things')).toEqual({ count: 2 });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await count.first()).toEqual({ count: 3 });
  });
});

describe('the rest of the server', () => {
  const files = globSync('server/**/*.ts').filter((file) => !file.startsWith(join('server', 'database')));

  it.each([
    ['asks which database it is', /getDialect|dialectOf|dialect\.name|[=!]== '(?:postgres|sqlite)'/u],
    ['runs SQL past sql.ts', /sequelize\.query|QueryTypes|\bbind: \[/u],
  ])('has no file that %s', (_, pattern) => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => pattern.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
