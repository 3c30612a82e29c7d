// Counts authorizations and records last uses in memory, and writes them periodically. A crash may lose the last
// seconds of statistics; an authorization must not wait for a disk.
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
  /** Undefined while nothing waits, so that an idle server does not wake up. */
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
  }

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const tokens = touched.take();
    if (counts.size === 0 && tokens.length === 0) return;
    const now = clock.now();
    const day = new Date(now).toISOString().slice(0, 10);
    const written = counts;
    counts = new Map();
    try {
      await transaction(async () => {
        for (const [product, count] of written) await store.add(day, product, count);
        await touchTokens(tokens, now);
      });
      onWritten();
      if (touched.isWaiting()) schedule();
    } catch (error) {
      for (const [product, { granted, denied }] of written) {
        const since = counts.get(product) ?? { granted: 0, denied: 0 };
        counts.set(product, { granted: since.granted + granted, denied: since.denied + denied });
      }
      touched.putBack(tokens);
      schedule();
      onError(error);
    }
  }

  /** Also waits for the write under way. */
  function flush(): Promise<void> {
    writing = writing.then(write);
    return writing;
  }

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
    async close() {
      await flush();
      clearTimeout(timer);
    },
  };
}
