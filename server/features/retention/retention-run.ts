// One run of the retention job: removes records past their retention period, in batches with pauses.
import { setTimeout as delay } from 'node:timers/promises';
import type { EventPosition, EventStore } from '#server/features/events/event-store.ts';
import type { DeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import type { WebhookStore } from '#server/features/webhooks/webhook-store.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { directCall } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { RestoreFolders } from './restore-folders.ts';
import { RETENTION_KINDS, type RetentionKind } from './retention-contract.ts';
import { cutoff, type RetentionPeriods } from './retention-periods.ts';
import type { RetentionRunStore } from './retention-run-store.ts';

/** Maximum number of rows per transaction, so that other writers wait only a few milliseconds. */
const BATCH = 200;
/** The job uses at most a fifth of the writer's time. */
const PAUSE_FACTOR = 4;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1000;

/** Kinds whose rows have no references to them. */
type PlainKind =
  | 'attempts'
  | 'audit'
  | 'idempotency'
  | 'imports'
  | 'denied_calls'
  | 'leases'
  | 'lease_denials'
  | 'lease_usage';

/** Each table's owner removes its rows, at most `limit` per call, so that transactions stay short. */
export interface PruneStores {
  plain: Record<PlainKind, (before: number, limit: number) => Promise<number>>;
  events: Pick<EventStore, 'findOld' | 'removeDelivered'>;
  deliveries: Pick<DeliveryStore, 'removeAttemptsOf' | 'removeOf'>;
  webhooks: Pick<WebhookStore, 'findUnused' | 'removeDeleted'>;
  runs: Pick<RetentionRunStore, 'noteRun' | 'noteRemoved'>;
}

interface Needs {
  stores: PruneStores;
  periods: RetentionPeriods;
  folders: RestoreFolders;
  /** Removes uploaded files that were never imported. */
  removeForgottenUploads(): Promise<void>;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  /** Whether the clock can be trusted for removing records. */
  isTrusted(now: number): boolean;
  /** Whether another server removes the records. */
  ownFilesOnly: boolean;
  /** Checked between batches; true ends the run early, and the next one continues. */
  isCancelled(): boolean;
  /** Called after each transaction that removed rows, with their number. */
  onBatch?(rows: number): void;
}

type Removed = Partial<Record<RetentionKind, number>>;

/** Kinds with removed rows. */
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
  const { folders, periods, transaction, clock } = needs;
  const { plain, events, deliveries, webhooks, runs } = needs.stores;
  const result: RetentionResult = { removed: {} };
  const startedAt = clock.now();

  function mayContinue(now = clock.now()): boolean {
    if (needs.isCancelled()) return false;
    if (needs.isTrusted(now)) return true;
    result.held = true;
    return false;
  }

  /** Cut off at the start of a UTC day, so that a day's records go in one run rather than in 24. */
  function before(kind: RetentionKind): number | null {
    const limit = cutoff(periods[kind], startedAt);
    return limit === null || kind === 'idempotency' ? limit : Math.floor(limit / DAY_MS) * DAY_MS;
  }

  async function note(removed: Removed): Promise<void> {
    for (const [kind, count] of countsOf(removed)) await runs.noteRemoved(kind, count);
  }

  /** @param batch removes some rows and returns their numbers; empty when none are left */
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
    await inBatches(async () => {
      const removed = await remove(async () => {
        const count = await plain[kind](limit, BATCH);
        if (count > 0 && isFirst) await onFirst?.(limit);
        return { [kind]: count };
      });
      // Only now: the work may have run twice.
      isFirst = false;
      return removed;
    });
  }

  /** Attempts first, then deliveries, then events, as foreign keys require. */
  async function removeSome(ids: readonly number[]): Promise<Removed> {
    const attempts = await deliveries.removeAttemptsOf(ids, BATCH);
    if (attempts > 0) return { attempts };
    const removed = await deliveries.removeOf(ids, BATCH);
    return removed > 0 ? { deliveries: removed } : { events: await events.removeDelivered(ids) };
  }

  async function pruneEvents(): Promise<void> {
    const limit = before('events');
    if (limit === null) return;
    let from: EventPosition = { createdAt: 0, id: 0 };
    await inBatches(async () => {
      for (;;) {
        // Before the transaction, because skipping many events that are still needed takes time.
        const old = await events.findOld(limit, from, BATCH);
        const [first] = old;
        const last = old.at(-1);
        if (!first || !last) return {};
        from = first;
        const removed = await remove(() => removeSome(old.map(({ id }) => id)));
        if (countsOf(removed).length > 0) return removed;
        // All of them have been retried meanwhile.
        from = { ...last, id: last.id + 1 };
      }
    });
  }

  async function pruneWebhooks(): Promise<void> {
    await inBatches(async () => {
      const webhook = await webhooks.findUnused();
      return webhook === null
        ? {}
        : remove(async () => ({ webhooks: await webhooks.removeDeleted(webhook) }));
    });
  }

  async function pruneImports(): Promise<void> {
    // Files first, because an import's record keeps its file from being imported twice.
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
  if (needs.ownFilesOnly) {
    await needs.removeForgottenUploads();
    await pruneRestores();
    return result;
  }
  await transaction(async () => {
    for (const kind of RETENTION_KINDS) await runs.noteRun(kind, startedAt);
  });
  const steps: (() => Promise<void>)[] = [
    () => prunePlain('idempotency'),
    () => prunePlain('attempts'),
    pruneEvents,
    pruneWebhooks,
    () => prunePlain('audit', recordAuditPruning),
    pruneImports,
    pruneRestores,
    () => prunePlain('denied_calls'),
    () => prunePlain('leases'),
    () => prunePlain('lease_denials'),
    () => prunePlain('lease_usage'),
  ];
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  return result;
}
