// How much is stored, at the cost of a few index seeks per table, however many rows there are.
import { QueryTypes, type Sequelize } from 'sequelize';
import { dialectOf, type Dialect } from '../database/connect.ts';
import type { RetentionKind } from './retention-contract.ts';

export interface Figures {
  entries: number;
  isEstimated: boolean;
  bytes: number | null;
  /** Epoch milliseconds. */
  oldestAt: number | null;
}

export interface RunRow {
  kind: RetentionKind;
  ranAt: number;
  removed: number;
  removedTotal: number;
}

export interface DatabaseSize {
  dialect: Dialect;
  bytes: number;
  freeBytes: number | null;
}

interface Table {
  name: string;
  age: string;
  /** Columns whose length varies. */
  texts: readonly string[];
  /** Bytes of a row beside these, in the table and its indices. */
  overhead: number;
}

/** Of the files only `restores`; deleted webhooks are few, and counted by themselves. */
type TableKind = Exclude<RetentionKind, 'webhooks' | 'restores'>;

/** The overheads were measured with dbstat, which itself reads the whole file. */
const TABLES: Record<TableKind, Table> = {
  events: { name: 'events', age: 'created_at', texts: ['name', 'body'], overhead: 100 },
  deliveries: { name: 'deliveries', age: 'created_at', texts: ['status', 'last_error'], overhead: 80 },
  attempts: {
    name: 'delivery_attempts',
    age: 'started_at',
    texts: ['error', 'remote_address', 'reply'],
    overhead: 60,
  },
  audit: {
    name: 'audit_entries',
    age: 'created_at',
    texts: ['actor_name', 'action', 'subject', 'before_state', 'after_state', 'request_id'],
    overhead: 200,
  },
  idempotency: {
    name: 'idempotent_replies',
    age: 'created_at',
    texts: ['idempotency_key', 'endpoint', 'caller', 'request_hash', 'reply_sealed'],
    overhead: 150,
  },
  imports: { name: 'license_imports', age: 'finished_at', texts: ['import_id'], overhead: 80 },
};

/** Up to so many rows are counted; beyond, ids are close enough. */
const EXACT_UP_TO = 10_000;
const SAMPLE = 100;

export function createStorageFiguresStore(sequelize: Sequelize) {
  const select = <Row extends object>(sql: string, bind: Record<string, unknown> = {}) =>
    sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });
  const isPostgres = dialectOf(sequelize) === 'postgres';

  async function pragma(name: string): Promise<number> {
    const [row] = await select<Record<string, number>>(`PRAGMA ${name}`);
    return row?.[name] ?? 0;
  }

  /** Of the oldest and the newest rows. */
  async function averageRow({ name, texts, overhead }: Table): Promise<number> {
    const lengths = texts.map((text) => `coalesce(length(CAST(${text} AS BLOB)), 0)`).join(' + ');
    const some = (order: string) =>
      `SELECT * FROM (SELECT ${lengths} AS length FROM ${name} ORDER BY id ${order} LIMIT ${SAMPLE})`;
    const [row] = await select<{ average: number | null }>(
      `SELECT avg(length) AS "average" FROM (${some('ASC')} UNION ALL ${some('DESC')})`,
    );
    return (row?.average ?? 0) + overhead;
  }

  async function bytesOf(table: Table, entries: number): Promise<number> {
    if (!isPostgres) return entries === 0 ? 0 : Math.round(entries * (await averageRow(table)));
    const [row] = await select<{ bytes: number }>(
      `SELECT pg_total_relation_size('${table.name}') AS "bytes"`,
    );
    return row?.bytes ?? 0;
  }

  return {
    async measure(kind: TableKind): Promise<Figures> {
      const table = TABLES[kind];
      const [range] = await select<{ first: number | null; last: number | null; oldestAt: number | null }>(
        `SELECT (SELECT min(id) FROM ${table.name}) AS "first", (SELECT max(id) FROM ${table.name}) AS "last",
           (SELECT ${table.age} FROM ${table.name} ORDER BY id LIMIT 1) AS "oldestAt"`,
      );
      const { first = null, last = null, oldestAt = null } = range ?? {};
      const span = first === null || last === null ? 0 : last - first + 1;
      const [counted] = await select<{ count: number }>(
        `SELECT count(*) AS "count" FROM (SELECT 1 FROM ${table.name} LIMIT $most) counted`,
        { most: EXACT_UP_TO + 1 },
      );
      const count = counted?.count ?? 0;
      const isEstimated = count > EXACT_UP_TO;
      const entries = isEstimated ? span : count;
      return { entries, isEstimated, bytes: await bytesOf(table, entries), oldestAt };
    },

    async measureDeletedWebhooks(): Promise<Figures> {
      const [row] = await select<{ count: number; oldestAt: number | null }>(
        `SELECT count(*) AS "count", min(deleted_at) AS "oldestAt" FROM webhooks WHERE deleted_at IS NOT NULL`,
      );
      const { count = 0, oldestAt = null } = row ?? {};
      return { entries: count, isEstimated: false, bytes: null, oldestAt };
    },

    async measureDatabase(): Promise<DatabaseSize> {
      if (isPostgres) {
        const [row] = await select<{ bytes: number }>(
          `SELECT pg_database_size(current_database()) AS "bytes"`,
        );
        return { dialect: 'postgres', bytes: row?.bytes ?? 0, freeBytes: null };
      }
      const pageBytes = await pragma('page_size');
      const pages = await pragma('page_count');
      const free = await pragma('freelist_count');
      return { dialect: 'sqlite', bytes: pages * pageBytes, freeBytes: free * pageBytes };
    },

    listRuns: (): Promise<RunRow[]> =>
      select(
        `SELECT kind AS "kind", ran_at AS "ranAt", removed AS "removed", removed_total AS "removedTotal"
         FROM retention_runs`,
      ),
  };
}

export type StorageFiguresStore = ReturnType<typeof createStorageFiguresStore>;
