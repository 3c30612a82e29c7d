// Sends what is due, and goes on doing so: claims by lease, sends, and writes down outcomes and new claims together.
import type { RunTransaction } from '../database/transaction.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sealer } from '../platform/sealer.ts';
import { hashSecret } from '../platform/secret-token.ts';
import { retryDelayMs } from './delivery-schedule.ts';
import type { Attempt, DeliverySender } from './delivery-sender.ts';
import { signatureHeaders } from './delivery-signature.ts';
import { createPlaces } from './dispatch-places.ts';
import type { ClaimedDelivery, DispatchStore, Outcome } from './dispatch-store.ts';
import { openWebhookSecrets } from './webhook-secrets.ts';

/** New deliveries wake the dispatcher; this is for what no wake-up came for. */
const POLL_MS = 5000;
const ERROR_PAUSE_MS = 1000;
/** What a lease lasts beyond the longest attempt. */
const LEASE_MARGIN_MS = 15_000;
/** At a stop, attempts under way may take this long; what is not answered by then is sent again at the next start. */
const DRAIN_MS = 1500;
const KEPT_ATTEMPTS_MS = 90 * 86_400_000;
const PRUNE_EVERY_MS = 86_400_000;
/** The last delay is 16 units, and `Retry-After` may double it. */
const LONGEST_DELAY_UNITS = 40;
const CLOCK_STEP_MS = 2000;

const NOTHING_SENT: Attempt = {
  delivered: false,
  status: null,
  errorClass: 'other',
  error: null,
  ms: 0,
  remoteAddress: null,
  reply: '',
  retryAfterMs: null,
};

const byWebhook = (a: Outcome, b: Outcome): number => a.webhookId - b.webhookId;

interface Needs {
  store: DispatchStore;
  transaction: RunTransaction;
  sender: DeliverySender;
  sealer: Sealer;
  clock: Clock;
  /** One backoff unit. */
  backoffMs: number;
  /** The longest an attempt can take. */
  timeoutMs: number;
  /** Whether nobody else sends from this database, so that a lease found at the start is a dead process's. */
  alone: boolean;
  onAlive(): void;
  /** Called once deliveries are under way, or attempts have been written down. */
  onProgress(): void;
  onError(error: unknown): void;
}

export interface Dispatcher {
  /** Ends once it was stopped. */
  run(): Promise<void>;
  /** Something may have become due. */
  wake(): void;
  stop(): void;
}

export function createDispatcher(needs: Needs): Dispatcher {
  const { store, transaction, sender, sealer, clock } = needs;
  const leaseMs = needs.timeoutMs + LEASE_MARGIN_MS;
  const places = createPlaces();
  let finished: Outcome[] = [];
  const stopping = new AbortController();
  let isAwake = false;
  let wakeUp = () => {};

  function wake(): void {
    isAwake = true;
    wakeUp();
  }

  /** Until woken, or until `ms` have passed. */
  async function sleep(ms: number): Promise<void> {
    if (!isAwake) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, ms));
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    wakeUp = () => {};
    isAwake = false;
  }

  function headersOf(delivery: ClaimedDelivery, now: number): Record<string, string> {
    const { id, event, eventId, body } = delivery;
    return signatureHeaders({
      ...openWebhookSecrets(sealer, delivery, now),
      deliveryId: id,
      event,
      // The same for every receiver of the event, and unlike that of any other server's.
      messageId: `evt_${hashSecret(`${eventId} ${body}`).slice(0, 32)}`,
      timestampSeconds: Math.floor(now / 1000),
      body,
    });
  }

  async function send(delivery: ClaimedDelivery, now: number): Promise<Attempt> {
    const { url, body, ca } = delivery;
    try {
      return await sender.send({ url, headers: headersOf(delivery, now), body, ca });
    } catch (error) {
      // The sender never throws; a secret does that was sealed under another master key.
      needs.onError(error);
      return { ...NOTHING_SENT, error: (error as Error).message };
    }
  }

  async function attempt(delivery: ClaimedDelivery): Promise<void> {
    const startedAt = clock.now();
    const { retryAfterMs, ...result } = await send(delivery, startedAt);
    const delay = result.delivered
      ? null
      : retryDelayMs(delivery.attempts + 1, needs.backoffMs, retryAfterMs);
    finished.push({
      ...result,
      id: delivery.id,
      webhookId: delivery.webhookId,
      startedAt,
      attempts: delivery.attempts,
      retryAt: delay === null ? null : clock.now() + delay,
    });
    places.leave(delivery.id);
    wake();
  }

  function start(delivery: ClaimedDelivery): void {
    places.take(delivery.id, delivery.webhookId);
    void attempt(delivery);
  }

  /** Registrations by their ids, and before their deliveries: servers that lock rows in one order never meet head-on. */
  async function record(outcomes: readonly Outcome[]): Promise<void> {
    const newest = new Map(outcomes.map((outcome) => [outcome.webhookId, outcome]));
    for (const { webhookId, startedAt, error } of [...newest.values()].toSorted(byWebhook))
      await store.noteHealth(webhookId, startedAt, error);
    for (const outcome of outcomes) await store.record(outcome);
  }

  /** One transaction for what came back and what goes out next. */
  async function exchange(plan: ReadonlyMap<number, number>): Promise<ClaimedDelivery[]> {
    const outcomes = finished;
    finished = [];
    try {
      const begun = await transaction(async () => {
        await record(outcomes);
        const now = clock.now();
        const claimed: ClaimedDelivery[] = [];
        for (const [webhookId, count] of plan) {
          claimed.push(...(await store.claim(webhookId, now, count, now + leaseMs)));
        }
        return claimed;
      });
      if (outcomes.length > 0 || begun.length > 0) needs.onProgress();
      return begun;
    } catch (error) {
      finished = [...outcomes, ...finished];
      throw error;
    }
  }

  /** @returns how long nothing will be due, in milliseconds */
  async function turn(): Promise<number> {
    const now = clock.now();
    const waiting = await store.listWaiting();
    const plan = stopping.signal.aborted
      ? new Map<number, number>()
      : places.plan(waiting.map(({ dueAt, ...webhook }) => ({ ...webhook, isDue: dueAt <= now })));
    if (finished.length === 0 && plan.size === 0) {
      const full = places.full();
      const open = waiting.filter(({ webhookId }) => !full.has(webhookId));
      // Of those whose places are taken the end of an attempt will tell.
      return Math.min(POLL_MS, ...open.map(({ dueAt }) => (dueAt <= now ? POLL_MS : dueAt - now)));
    }
    for (const delivery of await exchange(plan)) start(delivery);
    return 0;
  }

  let clockOffset = clock.now() - performance.now();
  let prunedAt = -Infinity;

  async function keepHouse(): Promise<void> {
    const now = clock.now();
    const offset = now - performance.now();
    if (offset < clockOffset - CLOCK_STEP_MS) {
      const latest = now + needs.backoffMs * LONGEST_DELAY_UNITS + leaseMs;
      await transaction(() => store.pullBack(latest, now));
    }
    clockOffset = offset;
    if (performance.now() - prunedAt > PRUNE_EVERY_MS) {
      prunedAt = performance.now();
      await transaction(() => store.removeAttemptsBefore(now - KEPT_ATTEMPTS_MS));
    }
  }

  async function drain(): Promise<void> {
    const deadline = performance.now() + DRAIN_MS;
    while (places.deliveryIds().length > 0 && performance.now() < deadline)
      await sleep(deadline - performance.now());
    await transaction(async () => {
      await record(finished);
      finished = [];
      await store.release(places.deliveryIds(), clock.now());
    });
    sender.close();
  }

  return {
    wake,
    stop() {
      stopping.abort();
      wake();
    },
    async run() {
      const now = clock.now();
      const latest = now + needs.backoffMs * LONGEST_DELAY_UNITS + leaseMs;
      await transaction(async () => {
        if (needs.alone) await store.releaseAll(now);
        await store.pullBack(latest, now);
      });
      while (!stopping.signal.aborted) {
        needs.onAlive();
        try {
          await keepHouse();
          const idleMs = await turn();
          if (idleMs > 0) await sleep(idleMs);
        } catch (error) {
          needs.onError(error);
          await sleep(ERROR_PAUSE_MS);
        }
      }
      await drain();
    },
  };
}
