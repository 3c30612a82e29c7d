// How much is stored, at a cost that a million rows per table do not raise beyond some hundredths of a second.
import { QueryTypes, type Sequelize } from 'sequelize';
import { dialectOf, type Dialect } from '#server/database/connect.ts';
import type { RetentionKind } from './retention-contract.ts';

interface Counted {
  entries: number;
  isEstimated: boolean;
}

export interface Figures extends Counted {
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
  deliveries: { name: 'deliveries', age: 'created_at', texts: ['status', 'last_error'], overhead: 64 },
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

/** Up to so many rows are counted on PostgreSQL. */
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

  /** SQLite counts a million in 10 to 30 ms, each page of the smallest index once. */
  async function count({ name }: Table): Promise<Counted> {
    const [row] = await select<{ count: number }>(`SELECT count(*) AS "count" FROM ${name}`);
    return { entries: row?.count ?? 0, isEstimated: false };
  }

  /** PostgreSQL would read the whole table; its own estimate follows each vacuum. */
  async function countRoughly({ name }: Table): Promise<Counted> {
    const [row] = await select<{ few: number; estimate: number }>(
      `SELECT (SELECT count(*) FROM (SELECT 1 FROM ${name} LIMIT $most) counted) AS "few",
         (SELECT CAST(reltuples AS BIGINT) FROM pg_class WHERE oid = CAST($name AS regclass)) AS "estimate"`,
      { most: EXACT_UP_TO + 1, name },
    );
    const { few = 0, estimate = 0 } = row ?? {};
    if (few <= EXACT_UP_TO) return { entries: few, isEstimated: false };
    return { entries: Math.max(few, estimate), isEstimated: true };
  }

  return {
    async measure(kind: TableKind): Promise<Figures> {
      const table = TABLES[kind];
      const [oldest] = await select<{ at: number }>(
        `SELECT ${table.age} AS "at" FROM ${table.name} ORDER BY id LIMIT 1`,
      );
      const counted = isPostgres ? await countRoughly(table) : await count(table);
      return { ...counted, bytes: await bytesOf(table, counted.entries), oldestAt: oldest?.at ?? null };
    },

    async measureDeletedWebhooks(): Promise<Figures> {
      const [row] = await select<{ count: number; oldestAt: number | null }>(
        `SELECT count(*) AS "count", min(deleted_at) AS "oldestAt" FROM webhooks WHERE deleted_at IS NOT NULL`,
      );
      return { entries: row?.count ?? 0, isEstimated: false, bytes: null, oldestAt: row?.oldestAt ?? null };
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
