import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import type { RetentionKind } from './retention-contract.ts';

export interface RunRow {
  kind: RetentionKind;
  ranAt: number;
  removed: number;
  removedTotal: number;
}

const NOTE_RUN = `
  INSERT INTO retention_runs (kind, ran_at, removed, removed_total) VALUES ($kind, $at, 0, 0)
  ON CONFLICT (kind) DO UPDATE SET ran_at = excluded.ran_at, removed = 0`;

const NOTE_REMOVED = `
  UPDATE retention_runs SET removed = removed + $count, removed_total = removed_total + $count
  WHERE kind = $kind`;

const LIST = `
  SELECT kind AS "kind", ran_at AS "ranAt", removed AS "removed", removed_total AS "removedTotal"
  FROM retention_runs`;

/** Stores what the last run removed, by kind. */
export function createRetentionRunStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    list: (): Promise<RunRow[]> => sql.select(LIST),
    async noteRun(kind: RetentionKind, at: number): Promise<void> {
      await sql.run(NOTE_RUN, { kind, at });
    },
    /** Adds to the counts of the run recorded last. */
    async noteRemoved(kind: RetentionKind, count: number): Promise<void> {
      await sql.run(NOTE_REMOVED, { kind, count });
    },
  };
}

export type RetentionRunStore = ReturnType<typeof createRetentionRunStore>;
