// One run of the retention job: removes what is older than the settings allow, in batches with pauses between them.
import { setTimeout as delay } from 'node:timers/promises';
import type { EventPosition, EventStore } from '#server/features/events/event-store.ts';
import type { DeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import type { WebhookStore } from '#server/features/webhooks/webhook-store.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { directCall } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { DAY_MS, toTimestamp } from '#server/wire/fields.ts';
import type { RestoreFolders } from './restore-folders.ts';
import { RETENTION_KINDS, type RetentionKind } from './retention-contract.ts';
import { cutoff, type RetentionPeriods } from './retention-periods.ts';
import type { RetentionRunStore } from './retention-run-store.ts';

/** Rows that one transaction removes at most: other writers wait a few milliseconds for it. */
const BATCH = 200;
/** The job writes at most a fifth of the time; the rest belongs to other writers. */
const PAUSE_FACTOR = 4;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1000;

/** Kinds whose rows nothing refers to. */
type PlainKind = 'attempts' | 'audit' | 'idempotency' | 'imports';

/** The owner of each table removes its own rows: in every call at most `limit`, so that no transaction is long. */
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

  /** The start of a UTC day, so that the daily share of records goes in one run and not in 24. */
  function before(kind: RetentionKind): number | null {
    const limit = cutoff(periods[kind], startedAt);
    return limit === null || kind === 'idempotency' ? limit : Math.floor(limit / DAY_MS) * DAY_MS;
  }

  async function note(removed: Removed): Promise<void> {
    for (const [kind, count] of countsOf(removed)) await runs.noteRemoved(kind, count);
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
        const count = await plain[kind](limit, BATCH);
        if (count > 0 && isFirst) await onFirst?.(limit);
        isFirst = false;
        return { [kind]: count };
      }),
    );
  }

  /** First the attempts of a batch of events, then their deliveries, then the events: foreign keys allow no other order. */
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
        // Ahead of the transaction: passing over many events that are still needed takes time.
        const old = await events.findOld(limit, from, BATCH);
        const [first] = old;
        const last = old.at(-1);
        if (!first || !last) return {};
        from = first;
        const removed = await remove(() => removeSome(old.map(({ id }) => id)));
        if (countsOf(removed).length > 0) return removed;
        // A retry of each of them has begun meanwhile.
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
  ];
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  return result;
}
