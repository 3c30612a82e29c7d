// Reports what is stored, how long it is kept, and what retention has removed.
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { RestoreFolders } from './restore-folders.ts';
import {
  RETENTION_KINDS,
  type retentionAdminContract,
  type RetentionItem,
  type RetentionKind,
} from './retention-contract.ts';
import type { RetentionPeriods } from './retention-periods.ts';
import type { RetentionRunStore, RunRow } from './retention-run-store.ts';
import type { Figures, StorageFiguresStore } from './storage-figures-store.ts';

interface Needs {
  figures: StorageFiguresStore;
  runs: Pick<RetentionRunStore, 'list'>;
  folders: RestoreFolders;
  periods: RetentionPeriods;
}

export function createRetentionService({ figures, runs: lastRuns, folders, periods }: Needs) {
  async function measure(kind: RetentionKind): Promise<Figures> {
    if (kind === 'restores') return { ...(await folders.measure()), isEstimated: false };
    return kind === 'webhooks' ? figures.measureDeletedWebhooks() : figures.measure(kind);
  }

  async function toItem(kind: RetentionKind, run: RunRow | undefined): Promise<RetentionItem> {
    const { entries, isEstimated, bytes, oldestAt } = await measure(kind);
    return {
      kind,
      entries,
      entries_estimated: isEstimated,
      bytes,
      oldest_at: toTimestampOrNull(oldestAt),
      setting: periods[kind].setting,
      keep_days: periods[kind].days,
      last_removed: run?.removed ?? 0,
      removed_total: run?.removedTotal ?? 0,
    };
  }

  return {
    async show(): Promise<ReplyOf<typeof retentionAdminContract.showRetention>> {
      const { dialect, bytes, freeBytes } = await figures.measureDatabase();
      const runs = await lastRuns.list();
      const items: RetentionItem[] = [];
      for (const kind of RETENTION_KINDS)
        items.push(
          await toItem(
            kind,
            runs.find((run) => run.kind === kind),
          ),
        );
      const lastRunAt = Math.max(...runs.map(({ ranAt }) => ranAt));
      return {
        database: { dialect, bytes, free_bytes: freeBytes },
        last_run_at: runs.length === 0 ? null : toTimestamp(lastRunAt),
        items,
      };
    },
  };
}

export type RetentionService = ReturnType<typeof createRetentionService>;
