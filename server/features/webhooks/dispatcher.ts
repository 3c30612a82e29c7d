// Sends due deliveries: claims them by lease, sends them, and records outcomes and new claims together.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { hashSecret } from '#server/platform/secret-token.ts';
import { retryDelayMs } from './delivery-schedule.ts';
import type { Attempt, DeliverySender } from './delivery-sender.ts';
import { signatureHeaders } from './delivery-signature.ts';
import type { ClaimedDelivery, DeliveryStore } from './delivery-store.ts';
import { createInFlightAttempts } from './in-flight-attempts.ts';
import { createOutcomeRecorder } from './outcome-recorder.ts';
import { createWebhookKeys } from './webhook-secrets.ts';
import type { WebhookStore } from './webhook-store.ts';

/** New deliveries wake the dispatcher. Polling covers everything else. */
const POLL_MS = 5000;
/** After an error, doubles with each further one. */
const ERROR_PAUSE_MS = 1000;
const MAX_ERROR_PAUSE_MS = 30_000;
/** Without anything waiting for so long, the dispatcher ends and frees its thread. */
const IDLE_MS = 10 * 60_000;
/** If another server claimed first, its claims become visible when it commits. */
const CONTENDED_PAUSE_MS = 50;
/** How much longer a lease lasts than the longest attempt. */
const LEASE_MARGIN_MS = 15_000;
/** At a stop, attempts in progress get this long. Unanswered ones are sent again at the next start. */
const DRAIN_MS = 1500;
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

/** The store methods that the dispatcher uses. */
export type DispatchStore = Pick<
  DeliveryStore,
  'claim' | 'isRecorded' | 'listWaiting' | 'pullBack' | 'record' | 'release' | 'releaseAll'
> &
  Pick<WebhookStore, 'noteHealth'>;

interface Needs {
  store: DispatchStore;
  transaction: RunTransaction;
  sender: DeliverySender;
  sealer: Sealer;
  clock: Clock;
  /** One backoff unit. */
  backoffMs: number;
  /** The maximum duration of an attempt. */
  timeoutMs: number;
  /** Whether this is the only server on the database, so that leases found at the start belong to a dead process. */
  alone: boolean;
  onAlive(): void;
  /** Called after deliveries have been started or attempts recorded. */
  onProgress(): void;
  onError(error: unknown): void;
  /** Called when the database can be used again after an error. */
  onRecovered(): void;
}

export interface Dispatcher {
  /** Resolves after a stop, or when nothing has been waiting for a while. */
  run(): Promise<void>;
  /** Call it when a delivery may have become due. */
  wake(): void;
  stop(): void;
}

export function createDispatcher(needs: Needs): Dispatcher {
  const { store, transaction, sender, clock } = needs;
  const openKeys = createWebhookKeys(needs.sealer);
  const leaseMs = needs.timeoutMs + LEASE_MARGIN_MS;
  const inFlight = createInFlightAttempts();
  const recorder = createOutcomeRecorder(needs);
  const stopping = new AbortController();
  let isAwake = false;
  let wakeUp = () => {};

  function wake(): void {
    isAwake = true;
    wakeUp();
  }

  /** Sleeps until woken, or for `ms`. */
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
      ...openKeys(delivery, now),
      deliveryId: id,
      event,
      // The same for every receiver of the event, but different from other servers' IDs.
      messageId: `evt_${hashSecret(`${eventId} ${body}`).slice(0, 32)}`,
      timestampSeconds: Math.floor(now / 1000),
      body,
    });
  }

  async function send(delivery: ClaimedDelivery, now: number): Promise<Attempt> {
    const { id, webhookId, url, body, ca } = delivery;
    try {
      return await sender.send({ url, headers: headersOf(delivery, now), body, ca });
    } catch (error) {
      // The sender never throws, but opening a secret sealed with another master key does.
      const { message } = error as Error;
      needs.onError(new Error(`delivery ${id} to webhook ${webhookId} cannot be sent: ${message}`));
      return { ...NOTHING_SENT, error: message };
    }
  }

  async function attempt(delivery: ClaimedDelivery): Promise<void> {
    const startedAt = clock.now();
    const { retryAfterMs, ...result } = await send(delivery, startedAt);
    const delay = result.delivered
      ? null
      : retryDelayMs(delivery.attempts + 1, needs.backoffMs, retryAfterMs);
    recorder.add({
      ...result,
      id: delivery.id,
      leaseEndsAt: delivery.leaseEndsAt,
      webhookId: delivery.webhookId,
      url: delivery.url,
      startedAt,
      attempts: delivery.attempts,
      retryAt: delay === null ? null : clock.now() + delay,
    });
    inFlight.end(delivery.id, result.delivered);
    wake();
  }

  function start(delivery: ClaimedDelivery): void {
    inFlight.begin(delivery, delivery.webhookId);
    void attempt(delivery);
  }

  /** Records outcomes and claims the next deliveries in one transaction. */
  function exchange(plan: ReadonlyMap<number, number>): Promise<ClaimedDelivery[]> {
    return recorder.writeWith(() => {
      const now = clock.now();
      return store.claim(plan, now, now + leaseMs);
    });
  }

  let busyAt = performance.now();
  const isIdle = () => performance.now() - busyAt >= IDLE_MS;

  /** @returns how long to sleep, in milliseconds */
  async function turn(): Promise<number> {
    const now = clock.now();
    const waiting = await store.listWaiting();
    if (waiting.length > 0 || inFlight.claims().length > 0) busyAt = performance.now();
    const plan = stopping.signal.aborted
      ? new Map<number, number>()
      : inFlight.plan(waiting.map(({ dueAt, ...webhook }) => ({ ...webhook, isDue: dueAt <= now })));
    const hasOutcomes = recorder.hasFresh();
    if (!hasOutcomes && plan.size === 0) {
      // Due deliveries get no slot until an attempt ends, which wakes the dispatcher, or counts as hanging.
      const slotMs = inFlight.msUntilNextHangs();
      const waits = waiting.map(({ dueAt }) => (dueAt <= now ? slotMs : dueAt - now));
      return Math.min(POLL_MS, recorder.msUntilRetry(), ...waits);
    }
    const claimed = await exchange(plan);
    for (const delivery of claimed) start(delivery);
    if (!hasOutcomes && claimed.length === 0) return CONTENDED_PAUSE_MS;
    needs.onProgress();
    return 0;
  }

  /** Deliveries that are due later than any retry were scheduled by a clock that was ahead. */
  const pullBack = (now: number) =>
    store.pullBack(now + needs.backoffMs * LONGEST_DELAY_UNITS + leaseMs, now);

  let clockOffset = clock.now() - performance.now();

  async function correctClock(): Promise<void> {
    const now = clock.now();
    const offset = now - performance.now();
    if (offset < clockOffset - CLOCK_STEP_MS) await transaction(() => pullBack(now));
    clockOffset = offset;
  }

  async function drain(): Promise<void> {
    const deadline = performance.now() + DRAIN_MS;
    while (inFlight.claims().length > 0 && performance.now() < deadline)
      await sleep(deadline - performance.now());
    await recorder.writeWith(() => store.release(inFlight.claims(), clock.now()));
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
      await transaction(async () => {
        if (needs.alone) await store.releaseAll(now);
        await pullBack(now);
      });
      let problem: string | null = null;
      let pauseMs = ERROR_PAUSE_MS;
      while (!stopping.signal.aborted && !isIdle()) {
        try {
          await recorder.retry();
          await correctClock();
          const idleMs = await turn();
          needs.onAlive();
          if (problem !== null) needs.onRecovered();
          problem = null;
          pauseMs = ERROR_PAUSE_MS;
          if (idleMs > 0) await sleep(idleMs);
        } catch (error) {
          const { message } = error as Error;
          if (message !== problem) needs.onError(error);
          problem = message;
          await sleep(pauseMs);
          pauseMs = Math.min(pauseMs * 2, MAX_ERROR_PAUSE_MS);
        }
      }
      await drain();
    },
  };
}
