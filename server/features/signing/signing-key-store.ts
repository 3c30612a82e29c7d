import type { Sequelize } from 'sequelize';
import { modelColumns } from '#server/database/column-lists.ts';
import { sqlOf } from '#server/database/sql.ts';
import { defineSigningKey, type SigningKeyRow } from './signing-key-model.ts';

/** A published list; `issuedAt` is epoch milliseconds. */
export interface DistrustListRow {
  sequence: number;
  issuedAt: number;
  /** In its text form. */
  document: string;
}

const VERSION = `SELECT id AS "id", status AS "status", distrusted_at AS "distrustedAt" FROM signing_keys ORDER BY id`;

const NEWEST_LIST = `
  SELECT sequence AS "sequence", issued_at AS "issuedAt", document AS "document"
  FROM distrust_lists ORDER BY sequence DESC LIMIT 1`;

const INSERT_LIST = `
  INSERT INTO distrust_lists (sequence, issued_at, document) VALUES ($sequence, $issuedAt, $document)`;

export function createSigningKeyStore(sequelize: Sequelize) {
  const keys = defineSigningKey(sequelize);
  const sql = sqlOf(sequelize);
  const listed = sql.statement<SigningKeyRow>(
    `SELECT ${modelColumns(keys)} FROM signing_keys ORDER BY status, id DESC`,
  );
  const version = sql.batchedRead(VERSION);
  const newestList = sql.statement<DistrustListRow>(NEWEST_LIST);
  return {
    /** The active key first, then the retired ones, newest first. */
    list: (): Promise<SigningKeyRow[]> => listed.all(),
    /** Changes whenever a key is added, retired or distrusted. */
    async version(): Promise<string> {
      return JSON.stringify(await version());
    },
    /** Serializes key changes of several servers. SQLite has one writer anyway. */
    async lock(): Promise<void> {
      await sql.lock('signing_keys');
    },
    async insert(key: Omit<SigningKeyRow, 'id'>): Promise<void> {
      await keys.create(key);
    },
    async retireActive(retiredAt: number): Promise<void> {
      await keys.update({ status: 'retired', retiredAt }, { where: { status: 'active' } });
    },
    async distrust(id: number, distrustedAt: number, distrustReason: string | null): Promise<void> {
      await keys.update({ distrustedAt, distrustReason }, { where: { id } });
    },
    newestList: (): Promise<DistrustListRow | null> => newestList.first(),
    async insertList(list: DistrustListRow): Promise<void> {
      await sql.run(INSERT_LIST, { ...list });
    },
  };
}

export type SigningKeyStore = ReturnType<typeof createSigningKeyStore>;
