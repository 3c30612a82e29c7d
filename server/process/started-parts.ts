// The parts of a server that have been started. They are ended in reverse order at the stop, or when a later step of the
// start fails.

/** @param elapsedMs since the first part was ended */
type End = (elapsedMs: number) => void | Promise<void>;

/** @param giveUp aborts the start */
export function createStartedParts(giveUp?: AbortSignal) {
  const parts: { name: string; end: End }[] = [];
  let ending: string | null = null;
  let ended: Promise<void> | undefined;

  async function endAll(): Promise<void> {
    const failures: unknown[] = [];
    const since = performance.now();
    // Each part is ended even if an earlier one fails: the lock must be released in any case.
    for (const { name, end } of parts.toReversed()) {
      ending = name;
      try {
        await end(performance.now() - since);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    /** The part is ended later even if this throws. @throws the reason of `giveUp` */
    add(name: string, end: End): void {
      parts.push({ name, end });
      giveUp?.throwIfAborted();
    },
    /** Ends all parts once, the newest first. @throws the first error, after all parts were ended */
    end: (): Promise<void> => (ended ??= endAll()),
    /** The part that is being ended, or was ended last; null before `end`. */
    ending: (): string | null => ending,
  };
}
