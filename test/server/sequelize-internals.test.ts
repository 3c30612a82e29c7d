// What server/database/sequelize-internals.ts relies on beyond Sequelize's types: an update that changes it fails here first.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sequelize, Transaction } from 'sequelize';
import pg from 'pg';
import sqlite3 from 'sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { selectRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase } from '../helpers/postgres-database.ts';

const { version } = Sequelize as unknown as { version: string };

/** The message of a failure names what to look at. */
const changed = (what: string) =>
  `Sequelize ${version} changed ${what}: adapt server/database/sequelize-internals.ts`;

interface Internals {
  connectionManager: Record<string, unknown> & {
    connections: Record<string, unknown>;
    getConnection(options: { uuid: string }): Promise<object>;
  };
  dialect: { Query: { prototype: object } };
  options: { dialectOptions: { mode: number } };
}

const folder = mkdtempSync(join(tmpdir(), 'license-desk-internals-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;

function open(mode = sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE) {
  count += 1;
  const storage = join(folder, `${count}.db`);
  const sequelize = new Sequelize({
    dialect: 'sqlite',
    dialectModule: sqlite3,
    storage,
    dialectOptions: { mode },
    logging: false,
  });
  return { sequelize, internals: sequelize as unknown as Internals };
}

describe('the connection manager for SQLite', () => {
  it.each(['getConnection', 'releaseConnection', 'destroyConnection', '_onProcessExit'])(
    'has %s()',
    async (name) => {
      const { sequelize, internals } = open();
      expect(typeof internals.connectionManager[name], changed(`connectionManager.${name}()`)).toBe(
        'function',
      );
      await sequelize.close();
    },
  );

  it('keeps a connection by its uuid, in `connections`, until that is deleted', async () => {
    const { sequelize, internals } = open();
    const { connectionManager: manager } = internals;
    const first = await manager.getConnection({ uuid: 'lane' });
    expect(manager.connections['lane'], changed('connectionManager.connections')).toBe(first);
    expect(await manager.getConnection({ uuid: 'lane' }), changed('getConnection({ uuid })')).toBe(first);
    expect(await manager.getConnection({ uuid: 'other' }), changed('getConnection({ uuid })')).not.toBe(
      first,
    );
    delete manager.connections['lane'];
    const second = await manager.getConnection({ uuid: 'lane' });
    expect(second, changed('connectionManager.connections')).not.toBe(first);
    await new Promise((resolve) => {
      (first as sqlite3.Database).close(resolve);
    });
    await sequelize.close();
  });

  it('is asked for the connection `default` outside a transaction', async () => {
    const { sequelize, internals } = open();
    await sequelize.query('SELECT 1');
    expect(Object.keys(internals.connectionManager.connections), changed('the default connection')).toEqual([
      'default',
    ]);
    await sequelize.close();
  });

  it('closes all connections by _onProcessExit()', async () => {
    const { sequelize, internals } = open();
    let calls = 0;
    internals.connectionManager['_onProcessExit'] = async () => void (calls += 1);
    await sequelize.close();
    expect(calls, changed('sequelize.close()')).toBe(1);
  });

  it('opens with the mode that the options have by then', async () => {
    const { sequelize, internals } = open();
    internals.options.dialectOptions.mode = sqlite3.OPEN_READWRITE;
    // Nothing has created the file yet.
    await expect(sequelize.query('SELECT 1'), changed('options.dialectOptions')).rejects.toThrow(
      'SQLITE_CANTOPEN',
    );
  });
});

describe('the connection manager for PostgreSQL', () => {
  const { connectionManager } = new Sequelize('postgres://nobody@127.0.0.1:1/none', {
    dialect: 'postgres',
    dialectModule: pg,
    logging: false,
    dialectOptions: { application_name: 'license-desk' },
  });
  const manager = connectionManager as unknown as Internals['connectionManager'] & {
    config: { host: string; dialectOptions: object };
    connect(config: object): Promise<unknown>;
  };

  it.each(['getConnection', 'releaseConnection', 'connect'])('has %s()', (name) => {
    expect(typeof manager[name], changed(`connectionManager.${name}()`)).toBe('function');
  });

  it('opens a connection outside the pool by its config, which has the options', async () => {
    expect(manager.config, changed('connectionManager.config')).toMatchObject({
      host: '127.0.0.1',
      dialectOptions: { application_name: 'license-desk' },
    });
    await expect(manager.connect(manager.config), changed('connectionManager.connect()')).rejects.toThrow(
      'ECONNREFUSED',
    );
  });

  it.skipIf(!hasPostgres)(
    'opens no connection only to ask for the version, if the options have it',
    async () => {
      const url = await newPostgresDatabase();
      const name = new URL(url).pathname.slice(1);
      const observer = await newPostgresDatabase();
      const opened = async () =>
        (await selectRows(observer, `SELECT sessions FROM pg_stat_database WHERE datname = '${name}'`))[0]
          .sessions as number;
      expect(await opened()).toBe(0);
      await selectRows(url, 'SELECT 1');
      await eventually(async () => expect(await opened()).toBeGreaterThan(0));
      expect(await opened(), changed('options.databaseVersion')).toBe(1);
    },
  );
});

describe('a query', () => {
  it('passes each error of a statement to formatError() of the dialect’s Query', async () => {
    const { sequelize, internals } = open();
    const seen: string[] = [];
    const { Query } = internals.dialect as unknown as {
      Query: new (...passed: never[]) => { formatError(error: Error, stack: string): Error };
    };
    Object.assign(internals.dialect, {
      Query: class extends Query {
        override formatError(error: Error, stack: string): Error {
          seen.push(error.message);
          return super.formatError(error, stack);
        }
      },
    });
    await expect(sequelize.query('SELECT * FROM nowhere')).rejects.toThrow();
    expect(seen, changed('dialect.Query.formatError()')).toEqual(['SQLITE_ERROR: no such table: nowhere']);
    await sequelize.close();
  });

  it('asks the namespace of useCLS() for its transaction, by get()', async () => {
    const { _cls: kept } = Sequelize as unknown as { _cls: unknown };
    const asked: string[] = [];
    const { sequelize } = open();
    try {
      Sequelize.useCLS({
        get: (key: string) => void asked.push(key),
        set: () => {},
        bind: () => {},
        run: () => {},
      });
      await sequelize.query('SELECT 1');
    } finally {
      Object.assign(Sequelize, { _cls: kept });
    }
    expect(asked, changed('Sequelize.useCLS()')).toContain('transaction');
    await sequelize.close();
  });
});

describe('a transaction', () => {
  it('gets its connection in prepareEnvironment(), begins there, and gives it back in cleanup()', async () => {
    const { sequelize, internals } = open();
    const calls: string[] = [];
    const { connectionManager: manager } = internals;
    const release = manager['releaseConnection'] as (connection: object) => void;
    manager['releaseConnection'] = (connection: object) => {
      calls.push('release');
      release.call(manager, connection);
    };
    class Watched extends Transaction {
      async begin(): Promise<void> {
        calls.push((this as unknown as { connection?: object }).connection ? 'begin' : 'no connection');
      }
    }
    const transaction = new Watched(sequelize, {}) as unknown as {
      prepareEnvironment(useCls: boolean): Promise<void>;
      cleanup(): void;
    };
    await transaction.prepareEnvironment(false);
    transaction.cleanup();
    expect(calls, changed('Transaction.prepareEnvironment(), begin(), connection or cleanup()')).toEqual([
      'begin',
      'release',
    ]);
    await sequelize.close();
  });

  it('rolls back where begin() fails, and destroys its connection in forceCleanup()', async () => {
    const { sequelize, internals } = open();
    const calls: string[] = [];
    const { connectionManager: manager } = internals;
    manager['destroyConnection'] = async () => void calls.push('destroy');
    class Failing extends Transaction {
      async begin(): Promise<void> {
        throw new Error('no lock');
      }
      override async rollback(): Promise<void> {
        calls.push('rollback');
        await (this as unknown as { forceCleanup(): Promise<void> }).forceCleanup();
      }
    }
    const transaction = new Failing(sequelize, {}) as unknown as {
      prepareEnvironment(useCls: boolean): Promise<void>;
    };
    await expect(transaction.prepareEnvironment(false)).rejects.toThrow('no lock');
    expect(calls, changed('Transaction.prepareEnvironment() or forceCleanup()')).toEqual([
      'rollback',
      'destroy',
    ]);
    await sequelize.close();
  });
});

describe('all other files', () => {
  it('leave Sequelize’s internals alone', () => {
    const internal =
      /connectionManager|prepareEnvironment|forceCleanup|_onProcessExit|dialect\.Query|useCLS|formatError|\._cls/u;
    const files = globSync(['server/**/*.ts', 'cli/**/*.ts', 'scripts/**/*.ts', 'electron/**/*.ts']);
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => internal.test(readFileSync(file, 'utf8')))).toEqual([
      join('server', 'database', 'sequelize-internals.ts'),
    ]);
  });
});
