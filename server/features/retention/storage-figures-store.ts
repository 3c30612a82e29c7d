// Measures how much is stored, in a few hundredths of a second even for a million rows per table.
import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import { type Counted, type DatabaseSize, tableFigures } from '#server/database/table-figures.ts';
import type { RetentionKind } from './retention-contract.ts';

export interface Figures extends Counted {
  bytes: number | null;
  /** Epoch milliseconds. */
  oldestAt: number | null;
}

interface Table {
  name: string;
  age: string;
  /** Columns of variable length. */
  texts: readonly string[];
  /** Bytes per row in addition to these, in the table and its indices. */
  overhead: number;
}

/** Tables only: restore folders are files, and the few deleted webhooks are counted separately. */
type TableKind = Exclude<RetentionKind, 'webhooks' | 'restores'>;

/** Overheads were measured with dbstat, which is too slow here because it reads the whole file. */
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
  denied_calls: {
    name: 'denied_calls',
    age: 'last_at',
    texts: ['machine_fingerprint', 'product', 'feature', 'address'],
    overhead: 120,
  },
  leases: {
    name: 'leases',
    age: 'issued_at',
    texts: ['instance_id', 'token_hash', 'seat_key', 'user_name', 'host', 'machine_fingerprint', 'end_note'],
    overhead: 400,
  },
  lease_denials: {
    name: 'lease_denials',
    age: 'created_at',
    texts: ['instance_id', 'user_name', 'host', 'pool', 'holders'],
    overhead: 150,
  },
  lease_usage: { name: 'lease_usage', age: 'hour', texts: [], overhead: 80 },
  imports: { name: 'license_imports', age: 'finished_at', texts: ['import_id'], overhead: 80 },
};

export function createStorageFiguresStore(sequelize: Sequelize) {
  const { selectFirst } = sqlOf(sequelize);
  const figures = tableFigures(sequelize);

  return {
    async measure(kind: TableKind): Promise<Figures> {
      const { name, age, texts, overhead } = TABLES[kind];
      const oldest = await selectFirst<{ at: number }>(
        `SELECT ${age} AS "at" FROM ${name} ORDER BY id LIMIT 1`,
      );
      const counted = await figures.count(name);
      const bytes = await figures.bytes(name, { rows: counted.entries, texts, overhead });
      return { ...counted, bytes, oldestAt: oldest?.at ?? null };
    },

    async measureDeletedWebhooks(): Promise<Figures> {
      const row = await selectFirst<{ count: number; oldestAt: number | null }>(
        `SELECT count(*) AS "count", min(deleted_at) AS "oldestAt" FROM webhooks WHERE deleted_at IS NOT NULL`,
      );
      return { entries: row?.count ?? 0, isEstimated: false, bytes: null, oldestAt: row?.oldestAt ?? null };
    },

    measureDatabase: (): Promise<DatabaseSize> => figures.databaseSize(),
  };
}

export type StorageFiguresStore = ReturnType<typeof createStorageFiguresStore>;
