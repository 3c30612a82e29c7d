// Keeps the latest time of the clock, to detect a clock that was set back.

/**
 * Where a program keeps the latest time its clock has shown, such as a file or local storage. A user with
 * control of the machine can delete or edit it: the store detects a rollback but does not prevent one.
 */
export interface LastSeenStore {
  /** Epoch milliseconds; null if nothing is stored yet. */
  read(): number | null | Promise<number | null>;
  /** @param ms epoch milliseconds */
  write(ms: number): void | Promise<void>;
}

/**
 * Reads the store and moves it forward to `now`.
 *
 * @returns what it held before, in epoch milliseconds; null if nothing
 * @throws RangeError if the store holds something that is not a time
 */
export async function readLastSeen(store: LastSeenStore, now: number): Promise<number | null> {
  const seen = await store.read();
  if (seen !== null && !Number.isFinite(new Date(seen).getTime()))
    throw new RangeError(
      `The last-seen store returned ${String(seen)}, which is not a time in milliseconds.`,
    );
  if (seen === null || now > seen) await store.write(now);
  return seen;
}
