// Counts authorizations and records last uses in memory, and writes them periodically. A crash may lose the last
// seconds of statistics, and a commit whose answer is lost may count them twice: an authorization must not wait for a disk.
import { createDelayedWrite } from '#server/database/delayed-write.ts';
import { createTouchBuffer, type Touch } from '#server/database/touch-buffer.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import { DAY_MS, isoDay } from '#server/wire/instants.ts';
import type { AuthorizationTokenStore } from './authorization-token-store.ts';
import type { AuthorizationUsageStore, UsageCount } from './authorization-usage-store.ts';

const FLUSH_MS = 5000;
/** Last use is recorded at most once per hour, so a busy token causes one write per hour. */
const TOUCH_EVERY_MS = 3_600_000;

interface UsedToken {
  tokenId: number;
  lastUsedAt: number | null;
}

/** By UTC day, counted from the epoch, then by product. */
type Counts = Map<number, Map<string, UsageCount>>;

interface Batch {
  counts: Counts;
  tokens: Touch[];
}

interface Needs {
  store: AuthorizationUsageStore;
  touchTokens: AuthorizationTokenStore['touch'];
  transaction: RunTransaction;
  clock: Clock;
  /** Called after each write. */
  onWritten(): void;
  /** Called when a flush fails. What it would have written is kept for the next one. */
  onError(error: unknown): void;
}

export interface AuthorizationUsage {
  /** @param now when the call was answered, which gives the day that it counts for */
  count(product: string, granted: boolean, now: number): void;
  /** Notes the use in `token`, too, which may be kept for further calls. */
  touch(token: UsedToken, now: number): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

function countOf(counts: Counts, day: number, product: string): UsageCount {
  let products = counts.get(day);
  if (!products) counts.set(day, (products = new Map()));
  let count = products.get(product);
  if (!count) products.set(product, (count = { granted: 0, denied: 0 }));
  return count;
}

export function createAuthorizationUsage(needs: Needs): AuthorizationUsage {
  const { store, touchTokens, transaction, clock, onWritten, onError } = needs;
  let counts: Counts = new Map();
  const touched = createTouchBuffer(TOUCH_EVERY_MS);

  const { schedule, flush, close } = createDelayedWrite<Batch>({
    delayMs: FLUSH_MS,
    take() {
      if (counts.size === 0 && !touched.isWaiting()) return null;
      const taken = { counts, tokens: touched.take() };
      counts = new Map();
      return taken;
    },
    async write(taken) {
      await transaction(async () => {
        for (const [day, products] of taken.counts) {
          for (const [product, count] of products) await store.add(isoDay(day), product, count);
        }
        await touchTokens(taken.tokens, clock.now());
      });
      onWritten();
      if (touched.isWaiting()) schedule();
    },
    putBack(taken) {
      for (const [day, products] of taken.counts) {
        for (const [product, { granted, denied }] of products) {
          const since = countOf(counts, day, product);
          since.granted += granted;
          since.denied += denied;
        }
      }
      touched.putBack(taken.tokens);
    },
    onError,
  });

  return {
    count(product, granted, now) {
      const count = countOf(counts, Math.floor(now / DAY_MS), product);
      if (granted) count.granted += 1;
      else count.denied += 1;
      schedule();
    },
    touch(token, now) {
      if (!touched.note(token.tokenId, token.lastUsedAt, now)) return;
      token.lastUsedAt = now;
      schedule();
    },
    flush,
    close,
  };
}
