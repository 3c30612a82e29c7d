// Records the outcomes of attempts. One that the database rejects does not hold up the others.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { DeliveryStore, Outcome } from './delivery-store.ts';
import type { WebhookStore } from './webhook-store.ts';

/** How long to wait before retrying outcomes that the database rejected. */
const RETRY_MS = 5000;

interface Needs {
  store: Pick<DeliveryStore, 'isRecorded' | 'record'> & Pick<WebhookStore, 'noteHealth'>;
  transaction: RunTransaction;
  onError(error: unknown): void;
}

export function createOutcomeRecorder({ store, transaction, onError }: Needs) {
  let fresh: Outcome[] = [];
  /**
   * By delivery: outcomes whose transaction failed, possibly because of another statement in it. If only the answer to its
   * commit was lost, they are recorded.
   */
  const doubtful = new Map<number, Outcome>();
  /** By delivery: outcomes that the database rejected individually. Their leases delay another attempt. */
  const refused = new Map<number, Outcome>();
  let retryRefusedAt = -Infinity;

  /** Webhooks first: servers that lock rows in the same order do not deadlock. */
  async function write(outcomes: readonly Outcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    const newest = new Map(outcomes.map((outcome) => [outcome.webhookId, outcome]));
    await store.noteHealth(
      [...newest].map(([id, { url, startedAt, error }]) => ({ id, url, at: startedAt, error })),
    );
    await store.record(outcomes);
  }

  return {
    add(outcome: Outcome): void {
      fresh.push(outcome);
    },

    hasFresh: () => fresh.length > 0,

    /** Milliseconds until `retry` has something to do. */
    msUntilRetry(): number {
      if (doubtful.size > 0) return 0;
      return refused.size > 0 ? retryRefusedAt - performance.now() : Infinity;
    },

    /** Runs `work` in one transaction with all new outcomes. If it fails, `retry` handles them. */
    async writeWith<Result>(work: () => Promise<Result>): Promise<Result> {
      const outcomes = fresh;
      fresh = [];
      try {
        return await transaction(async () => {
          await write(outcomes);
          return work();
        });
      } catch (error) {
        for (const outcome of outcomes) doubtful.set(outcome.id, outcome);
        throw error;
      }
    },

    /** Writes the outcomes of failed transactions one by one until one is rejected; that one moves to the end. */
    async retry(): Promise<void> {
      const isDue = performance.now() >= retryRefusedAt;
      for (const outcome of [...doubtful.values(), ...(isDue ? refused.values() : [])]) {
        doubtful.delete(outcome.id);
        refused.delete(outcome.id);
        try {
          await transaction(async () => {
            if (!(await store.isRecorded(outcome))) await write([outcome]);
          });
        } catch (error) {
          refused.set(outcome.id, outcome);
          if (isDue) retryRefusedAt = performance.now() + RETRY_MS;
          onError(error);
          return;
        }
      }
    },
  };
}
