// Counts authorizations and records last uses in memory, and writes them periodically. A crash may lose the last
// seconds of statistics, and a commit whose answer is lost may count them twice: an authorization must not wait for a disk.
import { createDelayedWrite } from '#server/database/delayed-write.ts';
import { createTouchBuffer } from '#server/database/touch-buffer.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { AuthorizationTokenStore } from './authorization-token-store.ts';
import type { AuthorizationUsageStore, UsageCount } from './authorization-usage-store.ts';

const FLUSH_MS = 5000;
/** Last use is recorded at most once per hour, so a busy token causes one write per hour. */
const TOUCH_EVERY_MS = 3_600_000;

interface UsedToken {
  tokenId: number;
  lastUsedAt: number | null;
}

interface Batch {
  /** By product. */
  counts: Map<string, UsageCount>;
  tokens: number[];
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
  count(product: string, granted: boolean): void;
  /** Notes the use in `token`, too, which may be kept for further calls. */
  touch(token: UsedToken, now: number): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function createAuthorizationUsage(needs: Needs): AuthorizationUsage {
  const { store, touchTokens, transaction, clock, onWritten, onError } = needs;
  let counts = new Map<string, UsageCount>();
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
      const now = clock.now();
      const day = new Date(now).toISOString().slice(0, 10);
      await transaction(async () => {
        for (const [product, count] of taken.counts) await store.add(day, product, count);
        await touchTokens(taken.tokens, now);
      });
      onWritten();
      if (touched.isWaiting()) schedule();
    },
    putBack(taken) {
      for (const [product, { granted, denied }] of taken.counts) {
        const since = counts.get(product) ?? { granted: 0, denied: 0 };
        counts.set(product, { granted: since.granted + granted, denied: since.denied + denied });
      }
      touched.putBack(taken.tokens);
    },
    onError,
  });

  return {
    count(product, granted) {
      let count = counts.get(product);
      if (!count) counts.set(product, (count = { granted: 0, denied: 0 }));
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
