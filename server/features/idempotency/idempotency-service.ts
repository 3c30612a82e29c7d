// Idempotency-Key: repeating a key and body within 24 hours returns the first reply (contract, section 2).
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import { ApiError } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { IdempotentCall, Work } from '#server/platform/mount.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { hashSecret } from '#server/platform/secret-token.ts';
import type { IdempotentReplyStore, ReplyKey } from './idempotent-reply-store.ts';

const SEAL_PURPOSE = 'idempotent-reply';

interface Needs {
  replies: IdempotentReplyStore;
  sealer: Sealer;
  transaction: RunTransaction;
  clock: Clock;
  isClockTrusted(): boolean;
}

/** Equal for requests that differ only in the order of fields. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

export function createIdempotencyService(needs: Needs) {
  const { replies, sealer, transaction, clock } = needs;

  /** Older replies are forgotten. While the clock may be ahead, none is: the call would be carried out again. */
  const rememberedSince = (): number => (needs.isClockTrusted() ? clock.now() - DAY_MS : 0);

  /** @returns null if the key is new */
  async function firstReply(key: ReplyKey, requestHash: string): Promise<object | null> {
    const first = await replies.find(key);
    if (!first || first.createdAt < rememberedSince()) return null;
    if (first.requestHash !== requestHash) {
      throw new ApiError(
        'idempotency_conflict',
        'this Idempotency-Key was already used for a different request',
      );
    }
    return JSON.parse(sealer.open(SEAL_PURPOSE, first.replySealed).toString()) as object;
  }

  return {
    /**
     * Stores the reply in the transaction of the change, so that a crash keeps both or neither. Failures change nothing
     * and are not stored.
     * @throws ApiError `idempotency_conflict` if the key was used with another body
     */
    async runOnce(call: IdempotentCall, work: Work): Promise<object> {
      const key = { idempotencyKey: call.key, endpoint: call.endpoint, caller: call.caller };
      const requestHash = hashSecret(canonicalJson(call.request));
      const known = await firstReply(key, requestHash);
      if (known) return known;
      await work.prepare();
      try {
        return await transaction(async () => {
          await replies.removeIfOlder(key, rememberedSince());
          const first = await firstReply(key, requestHash);
          if (first) return first;
          const reply = await work.run();
          const replySealed = sealer.seal(SEAL_PURPOSE, Buffer.from(JSON.stringify(reply)));
          await replies.insert({ ...key, requestHash, replySealed, createdAt: clock.now() });
          return reply;
        });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // On PostgreSQL, the first call with the key may have committed while this one waited for its row lock. What
        // refused this call may be the change of that one.
        const first = await firstReply(key, requestHash);
        if (first) return first;
        throw error;
      }
    },
  };
}
