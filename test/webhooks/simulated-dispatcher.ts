// The real dispatcher on simulated time: deliveries live in memory, receivers are functions, and an hour of retries
// takes a moment. Nothing in it depends on the speed of the machine.
import { onTestFinished, vi } from 'vitest';
import { createSealer } from '#server/platform/sealer.ts';
import type { Attempt } from '#server/features/webhooks/delivery-sender.ts';
import { createDispatcher, type DispatchStore } from '#server/features/webhooks/dispatcher.ts';
import type { ClaimedDelivery, Outcome } from '#server/features/webhooks/delivery-store.ts';
import { WEBHOOK_SECRET } from '#server/features/webhooks/webhook-secrets.ts';

/** How long one transaction takes. */
const TRANSACTION_MS = 10;

/** How long a receiver takes to accept or refuse a delivery; one that hangs lets every attempt time out. */
const ANSWER_MS = { accepts: 20, refuses: 800 };
type Behavior = keyof typeof ANSWER_MS | 'hangs';

export interface SimulatedAttempt {
  deliveryId: number;
  webhookId: number;
  /** When it was due, by its row. */
  dueAt: number;
  startedAt: number;
  endedAt: number | null;
}

interface Webhook {
  behavior: Behavior;
  lastDeliveryAt: number | null;
  lastError: string | null;
}

interface Delivery {
  id: number;
  webhookId: number;
  status: 'pending' | 'delivering' | 'retrying' | 'delivered' | 'failed';
  attempts: number;
  nextAttemptAt: number | null;
  claimedDueAt: number;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** @param options one backoff unit and the timeout of an attempt, in milliseconds */
export function simulateDispatcher({ backoffMs, timeoutMs }: { backoffMs: number; timeoutMs: number }) {
  vi.useFakeTimers({
    now: 1_800_000_000_000,
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'Date', 'performance'],
  });
  const webhooks = new Map<number, Webhook>();
  const deliveries: Delivery[] = [];
  /** By webhook: deliveries that are not concluded. */
  const open = new Map<number, Set<Delivery>>();
  const attempts: SimulatedAttempt[] = [];
  const errors: unknown[] = [];
  let underWay = 0;
  let mostUnderWay = 0;

  const sealer = createSealer(Buffer.alloc(32, 1));
  const secretSealed = sealer.seal(WEBHOOK_SECRET, Buffer.from(`whsec_${'A'.repeat(32)}`));

  const byDue = (a: Delivery, b: Delivery) => (a.nextAttemptAt ?? 0) - (b.nextAttemptAt ?? 0) || a.id - b.id;
  const standingOf = ({ lastDeliveryAt, lastError }: Webhook) => {
    if (lastDeliveryAt === null) return 'untried';
    return lastError === null ? 'working' : 'failing';
  };

  function claimOne(delivery: Delivery, leaseEndsAt: number): ClaimedDelivery {
    delivery.claimedDueAt = delivery.nextAttemptAt ?? 0;
    delivery.status = 'delivering';
    delivery.nextAttemptAt = leaseEndsAt;
    return {
      id: delivery.id,
      leaseEndsAt,
      webhookId: delivery.webhookId,
      attempts: delivery.attempts,
      event: 'license.renewed',
      eventId: delivery.id,
      body: '{}',
      url: String(delivery.id),
      ca: null,
      secretSealed,
      previousSecretSealed: null,
      overlapEndsAt: null,
      olderSecrets: null,
    };
  }

  function conclude({ id, delivered, attempts: before, retryAt }: Outcome): void {
    const delivery = deliveries[id - 1] as Delivery;
    delivery.attempts = before + 1;
    delivery.nextAttemptAt = retryAt;
    delivery.status = 'retrying';
    if (retryAt !== null) return;
    delivery.status = delivered ? 'delivered' : 'failed';
    open.get(delivery.webhookId)?.delete(delivery);
  }

  const store: DispatchStore = {
    async listWaiting() {
      return [...webhooks].flatMap(([webhookId, webhook]) => {
        let dueAt = Infinity;
        for (const { nextAttemptAt } of open.get(webhookId) ?? [])
          dueAt = Math.min(dueAt, nextAttemptAt ?? Infinity);
        return dueAt === Infinity ? [] : [{ webhookId, dueAt, standing: standingOf(webhook) }];
      });
    },
    async claim(plan, now, leaseEndsAt) {
      return [...plan].flatMap(([webhookId, limit]) =>
        [...(open.get(webhookId) ?? [])]
          .filter(({ nextAttemptAt }) => (nextAttemptAt ?? Infinity) <= now)
          .toSorted(byDue)
          .slice(0, limit)
          .map((delivery) => claimOne(delivery, leaseEndsAt)),
      );
    },
    async record(outcomes) {
      for (const outcome of outcomes) conclude(outcome);
    },
    async isRecorded() {
      return false;
    },
    async noteHealth(healths) {
      for (const { id, at, error } of healths)
        Object.assign(webhooks.get(id) as Webhook, { lastDeliveryAt: at, lastError: error });
    },
    async release() {},
    async releaseAll() {},
    async pullBack() {},
  };

  async function send(delivery: Delivery): Promise<Attempt> {
    const { behavior } = webhooks.get(delivery.webhookId) as Webhook;
    const attempt: SimulatedAttempt = {
      deliveryId: delivery.id,
      webhookId: delivery.webhookId,
      dueAt: delivery.claimedDueAt,
      startedAt: Date.now(),
      endedAt: null,
    };
    attempts.push(attempt);
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await sleep(behavior === 'hangs' ? timeoutMs : ANSWER_MS[behavior]);
    underWay -= 1;
    attempt.endedAt = Date.now();
    const delivered = behavior === 'accepts';
    return {
      delivered,
      status: behavior === 'hangs' ? null : 200,
      errorClass: delivered ? null : 'timeout',
      error: delivered ? null : 'no answer',
      ms: attempt.endedAt - attempt.startedAt,
      remoteAddress: null,
      reply: '',
      retryAfterMs: null,
    };
  }

  const dispatcher = createDispatcher({
    store,
    async transaction(work) {
      await sleep(TRANSACTION_MS);
      return work();
    },
    sender: { send: ({ url }) => send(deliveries[Number(url) - 1] as Delivery), close() {} },
    sealer,
    clock: { now: () => Date.now() },
    backoffMs,
    timeoutMs,
    alone: true,
    onAlive() {},
    onProgress() {},
    onError: (error) => errors.push(error),
    onRecovered() {},
  });
  const running = dispatcher.run();
  onTestFinished(async () => {
    dispatcher.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    await running;
    vi.useRealTimers();
  });

  return {
    attempts,
    errors,
    deliveries: deliveries as readonly Readonly<Delivery>[],
    mostUnderWay: () => mostUnderWay,
    /** @returns their ids */
    addWebhooks(count: number, behavior: Behavior, { isKnown = false } = {}): number[] {
      return Array.from({ length: count }, () => {
        const id = webhooks.size + 1;
        webhooks.set(id, { behavior, lastDeliveryAt: isKnown ? Date.now() : null, lastError: null });
        return id;
      });
    },
    setBehavior(ids: readonly number[], behavior: Behavior): void {
      for (const id of ids) (webhooks.get(id) as Webhook).behavior = behavior;
    },
    /** One new event for each of these webhooks, as one change makes them. */
    causeEvent(webhookIds: Iterable<number>): void {
      for (const webhookId of webhookIds) {
        const nextAttemptAt = Date.now();
        const id = deliveries.length + 1;
        const delivery: Delivery = {
          id,
          webhookId,
          status: 'pending',
          attempts: 0,
          nextAttemptAt,
          claimedDueAt: 0,
        };
        deliveries.push(delivery);
        open.set(webhookId, (open.get(webhookId) ?? new Set()).add(delivery));
      }
      dispatcher.wake();
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    attemptsOf: (webhookIds: readonly number[]) => {
      const wanted = new Set(webhookIds);
      return attempts.filter(({ webhookId }) => wanted.has(webhookId));
    },
    /** The longest that a due delivery to these webhooks has waited for its attempt, in milliseconds. */
    longestWait(webhookIds: readonly number[]): number {
      const wanted = new Set(webhookIds);
      const started = attempts.map(({ webhookId, startedAt, dueAt }) => ({
        webhookId,
        ms: startedAt - dueAt,
      }));
      const stillWaiting = [...open.values()]
        .flatMap((own) => [...own])
        .filter(({ status }) => status !== 'delivering')
        .map(({ webhookId, nextAttemptAt }) => ({ webhookId, ms: Date.now() - (nextAttemptAt ?? Infinity) }));
      const waits = [...started, ...stillWaiting].filter(({ webhookId }) => wanted.has(webhookId));
      return Math.max(...waits.map(({ ms }) => ms));
    },
  };
}

export type SimulatedDispatcher = ReturnType<typeof simulateDispatcher>;
