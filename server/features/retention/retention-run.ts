// One run of the retention job: removes what is older than the settings allow, in batches with pauses between them.
import { setTimeout as delay } from 'node:timers/promises';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { directCall } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { DAY_MS, toTimestamp } from '#server/wire/fields.ts';
import type { EventPosition, PlainKind, PruneStore } from './prune-store.ts';
import type { RestoreFolders } from './restore-folders.ts';
import { RETENTION_KINDS, type RetentionKind } from './retention-contract.ts';
import { cutoff, retentionPeriods, type RetentionSettings } from './retention-periods.ts';

/** Rows that one transaction removes at most: other writers wait a few milliseconds for it. */
const BATCH = 200;
/** The job writes at most a fifth of the time; the rest belongs to other writers. */
const PAUSE_FACTOR = 4;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1000;

interface Needs {
  store: PruneStore;
  settings: RetentionSettings;
  folders: RestoreFolders;
  /** Removes uploaded files that nobody imported. */
  removeForgottenUploads(): Promise<void>;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  /** Whether anything may be removed by this reading of the clock. */
  isTrusted(now: number): boolean;
  /** Asked between batches; true ends the run early, and the next one continues. */
  isCancelled(): boolean;
  /** Called after each transaction that removed something, with the number of rows. */
  onBatch?(rows: number): void;
}

type Removed = Partial<Record<RetentionKind, number>>;

/** Kinds of which something was removed. */
function countsOf(removed: Removed): [RetentionKind, number][] {
  return (Object.entries(removed) as [RetentionKind, number][]).filter(([, count]) => count > 0);
}

export interface RetentionResult {
  removed: Removed;
  /** The run stopped because the clock cannot be trusted. */
  held?: true;
}

/** Each batch is one transaction, so a crash loses nothing, and the next run continues where this one ended. */
export async function runRetention(needs: Needs): Promise<RetentionResult> {
  const { store, folders, transaction, clock } = needs;
  const result: RetentionResult = { removed: {} };
  const periods = retentionPeriods(needs.settings);
  const startedAt = clock.now();

  function mayContinue(now = clock.now()): boolean {
    if (needs.isCancelled()) return false;
    if (needs.isTrusted(now)) return true;
    result.held = true;
    return false;
  }

  /** The start of a UTC day, so that the daily share of records goes in one run and not in 24. */
  function before(kind: RetentionKind): number | null {
    const limit = cutoff(periods[kind], startedAt);
    return limit === null || kind === 'idempotency' ? limit : Math.floor(limit / DAY_MS) * DAY_MS;
  }

  async function note(removed: Removed): Promise<void> {
    for (const [kind, count] of countsOf(removed)) await store.noteRemoved(kind, count);
  }

  /** @param batch removes some, and tells what; nothing if there is nothing left */
  async function inBatches(batch: () => Promise<Removed>): Promise<void> {
    while (mayContinue()) {
      const began = performance.now();
      const removed = await batch();
      let total = 0;
      for (const [kind, count] of countsOf(removed)) {
        result.removed[kind] = (result.removed[kind] ?? 0) + count;
        total += count;
      }
      if (total === 0) return;
      needs.onBatch?.(total);
      const pauseMs = (performance.now() - began) * PAUSE_FACTOR;
      await delay(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pauseMs)));
    }
  }

  const remove = (work: () => Promise<Removed>): Promise<Removed> =>
    transaction(async () => {
      const removed = await work();
      await note(removed);
      return removed;
    });

  async function prunePlain(kind: PlainKind, onFirst?: (limit: number) => Promise<void>): Promise<void> {
    const limit = before(kind);
    if (limit === null) return;
    let isFirst = true;
    await inBatches(() =>
      remove(async () => {
        const count = await store.removePlain(kind, limit, BATCH);
        if (count > 0 && isFirst) await onFirst?.(limit);
        isFirst = false;
        return { [kind]: count };
      }),
    );
  }

  /** First the attempts of a batch of events, then their deliveries, then the events: foreign keys allow no other order. */
  async function removeSome(ids: readonly number[]): Promise<Removed> {
    const attempts = await store.removeAttemptsOf(ids, BATCH);
    if (attempts > 0) return { attempts };
    const deliveries = await store.removeDeliveriesOf(ids, BATCH);
    return deliveries > 0 ? { deliveries } : { events: await store.removeEvents(ids) };
  }

  async function pruneEvents(): Promise<void> {
    const limit = before('events');
    if (limit === null) return;
    let from: EventPosition = { createdAt: 0, id: 0 };
    await inBatches(async () => {
      for (;;) {
        // Ahead of the transaction: passing over many events that are still needed takes time.
        const events = await store.findOldEvents(limit, from, BATCH);
        const [first] = events;
        const last = events.at(-1);
        if (!first || !last) return {};
        from = first;
        const removed = await remove(() => removeSome(events.map(({ id }) => id)));
        if (countsOf(removed).length > 0) return removed;
        // A retry of each of them has begun meanwhile.
        from = { ...last, id: last.id + 1 };
      }
    });
  }

  async function pruneWebhooks(): Promise<void> {
    await inBatches(async () => {
      const [webhook] = await store.findUnusedWebhooks(1);
      return webhook === undefined
        ? {}
        : remove(async () => ({ webhooks: await store.removeWebhooks([webhook]) }));
    });
  }

  async function pruneImports(): Promise<void> {
    // The files first: a record keeps its file from being imported twice.
    if (mayContinue()) await needs.removeForgottenUploads();
    await prunePlain('imports');
  }

  async function pruneRestores(): Promise<void> {
    const limit = before('restores');
    if (limit === null || !mayContinue()) return;
    const restores = await folders.removeBefore(limit);
    if (restores > 0) result.removed.restores = restores;
    await transaction(() => note({ restores }));
  }

  const recordAuditPruning = (limit: number) =>
    needs.audit.record(directCall({ kind: 'system', name: 'retention' }), 'audit.pruned', 'audit', null, {
      entries_before: toTimestamp(limit),
    });

  if (!mayContinue(startedAt)) return result;
  await transaction(async () => {
    for (const kind of RETENTION_KINDS) await store.noteRun(kind, startedAt);
  });
  const steps: (() => Promise<void>)[] = [
    () => prunePlain('idempotency'),
    () => prunePlain('attempts'),
    pruneEvents,
    pruneWebhooks,
    () => prunePlain('audit', recordAuditPruning),
    pruneImports,
    pruneRestores,
  ];
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  return result;
}
