import { vi } from 'vitest';

/** Looks again until it does not throw, and gives back its result. `vi.waitFor` itself gives up after a second. */
export function eventually<Result>(look: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(look, { timeout: 120_000, interval: 50 });
}
